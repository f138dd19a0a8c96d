"""What packs are made of.

A pack is a folder in ``ubp/packs`` that defines ``PACK``. Everything clients see of a
tool - schema, description, annotations, checking, routing, reference - follows from
its one declaration here.
"""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import anyio
import apsw
from msgspec import Struct

from ubp.config import Settings
from ubp.messages import NoVector, QueryVector, Warned
from ubp.project import Project
from ubp.prompts import CompleteArgument, Messages
from ubp.reading.source import Source
from ubp.resources import (
    CompleteVariable,
    Completions,
    Contents,
    ListResources,
    ReadResource,
    ResourceList,
    Template,
)
from ubp.skills import GetSkill, ListSkills, Skill, SkillList
from ubp.store.vector_blocks import Blocks

__all__ = (
    "NOBODY",
    "AnyTool",
    "ArrayResult",
    "Client",
    "Context",
    "Database",
    "Effect",
    "ErrorStyle",
    "FileText",
    "Jobs",
    "Meaning",
    "Pack",
    "PassageText",
    "Prompts",
    "Reading",
    "Resources",
    "Restored",
    "Skills",
    "Source",
    "Stir",
    "Stirs",
    "TextResult",
    "Tool",
    "Work",
    "phase",
    "timing",
    "tool",
)

ArgsT = TypeVar("ArgsT", bound=Struct)
ResultT = TypeVar("ResultT", bound=Struct)
RecordT = TypeVar("RecordT", bound=Struct)
StateT = TypeVar("StateT")
T = TypeVar("T")


class Effect(Enum):
    """What a call may change. READ goes to the query pool, the others to the writer."""

    READ = "read"
    """Nothing; may be repeated."""
    ADD = "add"
    """Adds something each time it is called."""
    CHANGE = "change"
    """Sets something; calling it twice is calling it once."""


class ErrorStyle(Enum):
    """How the errors of a pack's tools look on the wire."""

    CODES = "codes"
    """JSON-RPC errors, a code for each kind."""
    CATEGORIES = "categories"
    """JSON-RPC error -32000; the message is a category, ``data.detail`` the reason."""
    RESULTS = "results"
    """A result flagged ``isError`` with one text block ``Error: …``."""


class Database(Protocol):
    """A connection whose functions run in a thread of their own."""

    async def run(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """``function(connection, *args, **kwargs)``; interrupted when cancelled."""

    async def write(
        self, function: Callable[..., T], /, *args: Any, **kwargs: Any
    ) -> T:
        """The same, for as long as other processes have their turn at writing."""


class Meaning(Protocol):
    """What a search by meaning needs beside the database."""

    @property
    def blocks(self) -> Blocks:
        """The vectors that have been loaded, for all searches of the process."""

    async def vector(self, text: str) -> QueryVector | NoVector:
        """The vector of a query, or why there is none."""


class Client(Protocol):
    """Whoever the tools answer."""

    async def roots(self) -> tuple[Path, ...] | None:
        """The folders it lets us use; None if it has not said."""

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell it something that it did not ask for at this moment."""


class Stir(NamedTuple):
    """Something may have changed: at or below these paths, or anywhere if none."""

    paths: frozenset[str]
    only_to_be_sure: bool = False
    """Whether nobody gives notice here, so that it is said at regular times."""


class Stirs(Protocol):
    """What stirs in a folder, as it does."""

    async def next(self) -> Stir:
        """The next thing that stirs, whenever that is; may be cancelled."""


Work = Callable[[Callable[[], None]], Awaitable[None]]
"""A job: given what it calls once it has begun."""


class Jobs(Protocol):
    """Work that goes on after a tool has answered."""

    async def start(self, key: Hashable, work: Work) -> bool:
        """Have *work* done unless it is, and wait until it has begun; if it is new."""

    def start_soon(self, key: Hashable, work: Work) -> bool:
        """The same without waiting."""

    def stop(self, key: Hashable) -> bool:
        """End a job; whether there was one."""

    def stirs(self, folder: Path) -> AbstractAsyncContextManager[Stirs]:
        """What stirs below *folder* while inside."""


class Nobody:
    """Whom a command answers: no client, and nothing goes on afterwards."""

    async def roots(self) -> tuple[Path, ...] | None:
        return None

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        pass

    async def start(self, key: Hashable, work: Work) -> bool:
        del key, work
        return False

    def start_soon(self, key: Hashable, work: Work) -> bool:
        del key, work
        return False

    def stop(self, key: Hashable) -> bool:
        del key
        return False

    @asynccontextmanager
    async def stirs(self, folder: Path) -> AsyncIterator[Stirs]:
        """Nothing, for nobody looks."""
        del folder
        yield self

    async def next(self) -> Stir:
        await anyio.sleep_forever()
        raise AssertionError


NOBODY = Nobody()

_timings: ContextVar[dict[str, float] | None] = ContextVar("timings", default=None)


@contextmanager
def timing() -> Iterator[dict[str, float]]:
    """Collect, in milliseconds, what is spent in each ``phase`` inside."""
    spent: dict[str, float] = {}
    token = _timings.set(spent)
    try:
        yield spent
    finally:
        _timings.reset(token)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Time what happens inside as part of *name*; threads started inside count too."""
    begin = perf_counter()
    try:
        yield
    finally:
        spent = _timings.get()
        if spent is not None:
            taken = (perf_counter() - begin) * 1000
            spent[name] = spent.get(name, 0.0) + taken


@dataclass(slots=True)
class Context:
    """What a handler may use."""

    db: Database
    project: Project
    meaning: Meaning
    request_id: str = ""
    client: Client = NOBODY
    jobs: Jobs = NOBODY
    started: float = field(default_factory=perf_counter)

    def elapsed_ms(self) -> int:
        return int((perf_counter() - self.started) * 1000)


Handler = Callable[[Context, ArgsT], Awaitable[ResultT]]


@dataclass(frozen=True, slots=True)
class Tool(Generic[ArgsT, ResultT]):
    """One tool, declared once."""

    name: str
    effect: Effect
    args: type[ArgsT]
    result: type[ResultT]
    handler: Handler[ArgsT, ResultT]
    slow_ms: int
    """A call that takes longer is logged with where its time went."""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values an argument may have, where the settings decide."""
    aliases: tuple[str, ...] = ()
    """Other names it answers to, which no client is shown."""
    needs_index: bool = True
    """Whether there has to be a database; otherwise using it may fail."""

    @property
    def description(self) -> str:
        """What clients read: the first paragraph of the argument type's docstring."""
        return self._paragraphs()[0]

    @property
    def details(self) -> tuple[str, ...]:
        """The paragraphs after it, which are for people."""
        return self._paragraphs()[1:]

    def _paragraphs(self) -> tuple[str, ...]:
        blocks = (self.args.__doc__ or "").split("\n\n")
        return tuple(" ".join(block.split()) for block in blocks)


AnyTool = Tool[Any, Any]


class ArrayResult(Struct, frozen=True, kw_only=True):
    """A result whose value is an array: what its field ``result`` holds."""

    def elements(self) -> list[Any]:
        """The array, as ``ubp call --json`` prints it."""
        return list(getattr(self, "result"))  # noqa: B009 - every subclass has it

    def shown(self) -> list[Any]:
        """The array as the text block of a reply has it."""
        return self.elements()

    def meta(self) -> dict[str, Any]:
        """What is to be known of the array as a whole: ``_meta`` of a reply."""
        return {}


class TextResult(Struct, frozen=True, kw_only=True):
    """A result whose text block is plain text rather than JSON."""

    def text(self) -> str:
        """The text block of a reply."""
        raise NotImplementedError


def tool(
    name: str,
    effect: Effect,
    *,
    slow_ms: int = 200,
    aliases: tuple[str, ...] = (),
    needs_index: bool = True,
) -> Callable[[Handler[ArgsT, ResultT]], Tool[ArgsT, ResultT]]:
    """Declare the decorated handler as the tool *name*."""

    def declare(handler: Handler[ArgsT, ResultT]) -> Tool[ArgsT, ResultT]:
        types = handler.__annotations__
        return Tool(
            name,
            effect,
            types["args"],
            types["return"],
            handler,
            slow_ms,
            aliases=aliases,
            needs_index=needs_index,
        )

    return declare


@dataclass(frozen=True, slots=True)
class FileText:
    """One file as a pack's reader gets it: decoded, without byte order mark."""

    path: str
    text: str
    project: Project


@dataclass(frozen=True, slots=True)
class Reading(Generic[RecordT]):
    """How a pack's files become its rows.

    *read* runs in the reading process and touches no database; the others run in the
    writer's transaction. *settle* is called after changes, until it says that nothing
    is left to do; *optimize* when there were many.
    """

    source: Callable[[Project], Source]
    fingerprint: Callable[[Project], str]
    """What the result of reading depends on beside the file; when it differs from what
    it was, every file is read again."""
    record: type[RecordT]
    read: Callable[[FileText], tuple[RecordT, list[Warned]]]
    """Raises ``CallerError`` for a file that cannot be taken; its message says why."""
    save: Callable[[apsw.Connection, str, str, RecordT, bool], None]
    """Of path, digest and record; and whether the page counts as read for the first
    time."""
    forget: Callable[[apsw.Connection, str], None]
    rename: Callable[[apsw.Connection, str, str], None]
    """Of the path that was and the path that is: it is the same page. *save* follows,
    with what it says at its new place."""
    settle: Callable[[apsw.Connection], bool]
    optimize: Callable[[apsw.Connection], None]


@dataclass(frozen=True, slots=True)
class Resources(Generic[StateT]):
    """What of a pack clients may read by URI, and how a change is noticed.

    The three tools are not listed and cannot be called by clients: they answer the
    requests of MCP that are about resources. Their names have a dot, which no listed
    tool may have.
    """

    prefix: str
    """What every URI of the pack begins with, and no URI of another."""
    templates: tuple[Template, ...]
    listing: Tool[ListResources, ResourceList]
    read: Tool[ReadResource, Contents]
    complete: Tool[CompleteVariable, Completions] | None
    """For the variables of any of its templates."""
    states: Callable[[apsw.Connection, Collection[str]], Mapping[str, StateT]]
    """What the database says of each URI that exists. Asked when the database has
    changed."""
    token: Callable[[Project, StateT], Hashable]
    """What of a state is another when a client should read again, None where there is
    nothing to read; may look at files, not at the database. Asked twice a second for
    everything that is followed."""
    list_token: Callable[[apsw.Connection], Hashable]
    """Something that is another when resources came or went; cheap."""
    list_token_of_files: Callable[[Project], Hashable] | None = None
    """The same, where that is seen from files. Asked twice a second."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """What of a pack clients may offer people to open a talk with.

    A prompt is declared as a tool is: its arguments are a struct, whose docstring is
    what people read. It is listed as a prompt and not as a tool, and only reads.
    """

    offered: tuple[Tool[Any, Messages], ...]
    complete: Tool[CompleteArgument, Completions] | None = None
    """For the arguments of any of them; its name has a dot, as no listed tool may
    have."""


@dataclass(frozen=True, slots=True)
class Skills:
    """What of a pack clients may attach as skills; they read it as its resources.

    The tools are not listed, like those behind resources.
    """

    listing: Tool[ListSkills, SkillList]
    get: Tool[GetSkill, Skill]
    """Raises ``ResourceNotFound``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings a pack keeps in its database, because what is stored depends on them."""

    hold: Callable[[apsw.Connection, Settings], bool]
    """Whether what is stored is as these settings want it."""
    follow: Callable[[apsw.Connection, Settings], None]
    """Make it so; called whenever the database is opened for writing."""


class Restored(NamedTuple):
    """What a pack brought back into a new database."""

    number: int
    lost: int
    """What could not be brought back, because it is damaged."""


class PassageText(NamedTuple):
    """A text to be embedded; its head says what the body is about."""

    head: str
    body: str


PassageTexts = Callable[[apsw.Connection, Sequence[int]], Mapping[int, PassageText]]


@dataclass(frozen=True, slots=True)
class Pack:
    """One folder of tools over one domain."""

    name: str
    summary: str
    """What it is, for people: a clause without a full stop."""
    tools: tuple[AnyTool, ...]
    errors: ErrorStyle
    migrations: Path
    """The folder of its numbered SQL files; its tables begin with its name."""
    reading: Reading[Any] | None = None
    texts: PassageTexts | None = None
    """The texts of those rows it noted as passages (``store/vectors.py``)."""
    indented_text: bool = False
    """Whether the text block of a result is indented rather than compact."""
    explicit: bool = False
    """Whether ``tools/list`` says of its tools what holds anyway: that other arguments
    are refused, and that what only reads destroys nothing."""
    resources: Resources[Any] | None = None
    prompts: Prompts | None = None
    skills: Skills | None = None
    guide: str = ""
    """When to use which of its tools: a line of what clients read on connecting."""
    extra_tools: tuple[AnyTool, ...] = ()
    """Tools that are there only where the settings ask for them."""
    wants_extra_tools: Callable[[Settings], bool] = lambda _: False
    choices: Callable[[Settings], Mapping[str, tuple[str, ...]]] | None = None
    """The values that arguments of its tools may have, by name of the argument."""
    begin: Callable[[Project, Jobs, Client], None] | None = None
    """What it wants to go on for as long as a service runs; must not wait."""
    counts: Callable[[apsw.Connection], Mapping[str, int]] | None = None
    """What it holds, by a word for it: for ``ubp status`` and ``ubp index``."""
    hidden: Callable[[apsw.Connection], Collection[int]] | None = None
    """The rows among its passages that whoever asks may not know of: they are not
    counted."""
    rules: Rules | None = None
    restore: Callable[[apsw.Connection], Restored] | None = None
    """Of a pack whose truth is the database: called whenever that is opened for
    writing, to bring back what it holds elsewhere too if the database is a new one."""
