"""Which languages there are, and where the documents of each come from.

Four are built in. Three more are ready-made: they are there as soon as ``ubp.toml``
names them. Any other is told in ``ubp.toml`` alone.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import asdict, replace

from ubp.config import Settings, SpecDocumentSettings, SpecLanguageSettings
from ubp.errors import ConfigError, InvalidArguments, shortened

__all__ = (
    "Document",
    "Language",
    "Policy",
    "Strategy",
    "UnknownLanguage",
    "is_base",
    "language",
    "names",
    "notes",
)

Strategy = Literal["single-html", "multi-html-toc", "github-markdown", "local"]
Policy = Literal["excerpt_only", "local_fulltext_ok"]

_BASE = re.compile(r"https?://[!#-;=?-~]+", re.IGNORECASE)
"""What a link can start with: no quotes, brackets or spaces, and no other scheme."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._+-]{0,63}")
"""Of languages and documents: it names folders of the cache, too."""


class Document(Struct, frozen=True, kw_only=True):
    """One specification: where it is read from, and how it is cited."""

    language: str
    doc: str
    title: str
    strategy: Strategy
    url: str = ""
    """The page, or the index page of the chapters."""
    path: str = ""
    """Read from disk instead, where it is given."""
    repo: str = ""
    folder: str = ""
    manifest: str = ""
    raw_url: str = "https://raw.githubusercontent.com"
    api_url: str = "https://api.github.com"
    base_url: str = ""
    page_suffix: str = ".html"
    policy: Policy = "excerpt_only"
    pages: str = r"jls-\d+\.html"
    """Which links of an index page lead to chapters, without their fragment."""
    headings: tuple[int, ...] = (2, 3, 4)
    """Which HTML headings begin a section."""


class Language(Struct, frozen=True, kw_only=True):
    """A language with its documents; the first is meant where none is named."""

    language: str
    name: str
    notes: str
    documents: tuple[Document, ...]

    def document(self, doc: str | None) -> Document:
        """The document of that id, or the first.

        Raises:
            InvalidArguments: The language has no such document.
        """
        for each in self.documents:
            if doc is None or each.doc == doc:
                return each
        known = ", ".join(each.doc for each in self.documents)
        raise InvalidArguments(
            f"{self.language} has no document {shortened(doc or '')!r}; "
            f"it has {known}.",
            cause="No document of that id is known for the language.",
            hint="Leave the document out to mean the first.",
        )


class UnknownLanguage(InvalidArguments):
    """There is no such language; the message lists those there are."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(
            f"Unknown language {shortened(name)!r}; "
            f"the supported ones are {', '.join(known)}.",
            cause="It is neither built in nor named in ubp.toml.",
            hint=f"Write [specs.sources.{name}] into ubp.toml; no more is needed."
            if name in _KNOWN
            else "Add it as [specs.sources.NAME] to ubp.toml; see docs/specs.md.",
        )


def _language(
    language: str, name: str, notes: str = "", *documents: Mapping[str, Any]
) -> Language:
    return Language(
        language=language,
        name=name,
        notes=notes,
        documents=tuple(Document(language=language, **each) for each in documents),
    )


_BUILT_IN = (
    _language(
        "go",
        "Go",
        "",
        {
            "doc": "go-spec",
            "title": "The Go Programming Language Specification",
            "strategy": "single-html",
            "url": "https://go.dev/ref/spec",
            "base_url": "https://go.dev/ref/spec",
        },
    ),
    _language(
        "java",
        "Java",
        "Oracle's copyright restricts this specification to excerpts.",
        {
            "doc": "jls",
            "title": "The Java Language Specification (SE21)",
            "strategy": "multi-html-toc",
            "url": "https://docs.oracle.com/javase/specs/jls/se21/html/index.html",
            "base_url": "https://docs.oracle.com/javase/specs/jls/se21/html",
        },
    ),
    _language(
        "rust",
        "Rust",
        "",
        {
            "doc": "rust-reference",
            "title": "The Rust Reference",
            "strategy": "github-markdown",
            "repo": "rust-lang/reference",
            "folder": "src",
            "manifest": "SUMMARY.md",
            "base_url": "https://doc.rust-lang.org/reference",
            "policy": "local_fulltext_ok",
        },
    ),
    _language(
        "typescript",
        "TypeScript",
        "The Handbook is officially not a complete specification of the language.",
        {
            "doc": "ts-handbook",
            "title": "TypeScript Handbook",
            "strategy": "github-markdown",
            "repo": "microsoft/TypeScript-Website",
            "folder": "packages/documentation/copy/en/handbook-v2",
            "base_url": "https://www.typescriptlang.org/docs/handbook/2",
            "policy": "local_fulltext_ok",
        },
    ),
)

_READY_MADE = (
    _language(
        "csharp",
        "C#",
        "",
        {
            "doc": "csharp-standard",
            "title": "C# language specification (draft standard)",
            "strategy": "github-markdown",
            "repo": "dotnet/csharpstandard",
            "folder": "standard",
            "manifest": "README.md",
            "base_url": "https://learn.microsoft.com/en-us/dotnet/csharp/"
            "language-reference/language-specification",
            "page_suffix": "",
            # The text is under a Creative Commons licence.
            "policy": "local_fulltext_ok",
        },
    ),
    _language(
        "python",
        "Python",
        "",
        {
            "doc": "python-reference",
            "title": "The Python Language Reference",
            "strategy": "multi-html-toc",
            "url": "https://docs.python.org/3/reference/index.html",
            "pages": r"(?!index\.)[a-z_]+\.html",
            "base_url": "https://docs.python.org/3/reference",
            "headings": (1, 2, 3, 4),
            # The licence of Python and its documentation lets everybody copy them.
            "policy": "local_fulltext_ok",
        },
    ),
    _language(
        "ecmascript",
        "ECMAScript",
        "",
        {
            "doc": "ecma262",
            "title": "ECMAScript Language Specification (ECMA-262)",
            "strategy": "single-html",
            "url": "https://tc39.es/ecma262/",
            "base_url": "https://tc39.es/ecma262/",
            "headings": (1, 2, 3, 4),
            # Ecma's alternative copyright notice lets everybody copy the text.
            "policy": "local_fulltext_ok",
        },
    ),
)

_KNOWN = {each.language: each for each in (*_BUILT_IN, *_READY_MADE)}

_OF_LANGUAGES = ("doc", "name", "notes", "docs")
"""Keys of a language that are not keys of a document."""


def is_base(url: str) -> bool:
    """Whether citations can start with *url*."""
    return _BASE.fullmatch(url) is not None


def names(settings: Settings) -> list[str]:
    """The languages to choose from: the built-in ones, then those of ``ubp.toml``.

    Raises:
        ConfigError: A name cannot be one.
    """
    built_in = [each.language for each in _BUILT_IN]
    for name in settings.specs.sources:
        _check_name(f"specs.sources.{name}", name)
    return list(dict.fromkeys([*built_in, *settings.specs.sources]))


def language(settings: Settings, name: str) -> Language:
    """The language of this name.

    Raises:
        UnknownLanguage: There is none.
        ConfigError: What ``ubp.toml`` says of it cannot be used.
    """
    known = names(settings)
    if name not in known:
        raise UnknownLanguage(name, known)
    return _as_set(name, _KNOWN.get(name), settings.specs.sources.get(name))


def notes(settings: Settings, name: str) -> str:
    """What a reader of the language should know."""
    given = settings.specs.sources.get(name)
    if given is not None and given.notes is not None:
        return given.notes
    return _KNOWN[name].notes if name in _KNOWN else ""


def _as_set(
    name: str, known: Language | None, given: SpecLanguageSettings | None
) -> Language:
    if known is not None and given is None:
        return known
    given = given or SpecLanguageSettings()
    where = f"specs.sources.{name}"
    first = known.documents[0] if known else None
    own = {key: value for key, value in asdict(given).items() if value is not None}
    doc = own.get("doc", first.doc if first else f"{name}-spec")
    if doc in given.docs:
        raise ConfigError(
            f"ubp.toml: {where}.docs.{shortened(doc)} is the first document already.",
            cause="Two documents of a language share an id.",
            hint=f"Say what differs in [{where}], or use another id.",
        )
    title = name if known is None else known.name
    documents = [_document(where, name, doc, first, given)]
    documents += [
        _document(f"{where}.docs.{doc}", name, doc, None, further)
        for doc, further in given.docs.items()
    ]
    return Language(
        language=name,
        name=own.get("name", title),
        notes=own.get("notes", known.notes if known else ""),
        documents=tuple(documents),
    )


def _document(
    where: str,
    language: str,
    doc: str,
    known: Document | None,
    given: SpecDocumentSettings,
) -> Document:
    _check_name(where, doc)
    own = {
        key: value
        for key, value in asdict(given).items()
        if value is not None and key not in _OF_LANGUAGES
    }
    if "headings" in own:
        own["headings"] = tuple(own["headings"])
    strategy = own.get("strategy", known.strategy if known else None)
    if strategy not in get_args(Strategy):
        said = "names none" if strategy is None else f"says {shortened(strategy)!r}"
        raise ConfigError(
            f"ubp.toml: {where}.strategy {said}.",
            cause="It has to tell how the document is had.",
            hint=f"Use one of {', '.join(get_args(Strategy))}.",
        )
    if known is not None:
        made = replace(known, doc=doc, **own)
    else:
        made = Document(language=language, doc=doc, **{"title": doc, **own})
    _check_place(where, made)
    return made


def _check_place(where: str, document: Document) -> None:
    """Raise unless it is said where the document is."""
    needed = {
        "single-html": "url",
        "multi-html-toc": "url",
        "github-markdown": "repo",
        "local": "path",
    }[document.strategy]
    if not document.path and not getattr(document, needed):
        raise ConfigError(
            f"ubp.toml: {where} has no {needed}.",
            cause=f"The strategy {document.strategy} needs it.",
            hint=f"Add {needed}, or path to read it from disk.",
        )
    if document.base_url and not is_base(document.base_url):
        raise ConfigError(
            f"ubp.toml: {where}.base_url cannot begin a link.",
            cause=f"It says {shortened(document.base_url)!r}.",
            hint="Give an http or https address; write what is not ASCII as %XX.",
        )
    if not document.headings:
        raise ConfigError(
            f"ubp.toml: {where}.headings is empty.",
            cause="Sections begin at headings of these levels.",
            hint="Leave it out to mean [2, 3, 4].",
        )
    try:
        re.compile(document.pages)
    except re.error as error:
        raise ConfigError(
            f"ubp.toml: {where}.pages is no regular expression.", cause=f"{error}."
        ) from None


def _check_name(where: str, name: str) -> None:
    if not _NAME.fullmatch(name) or name == "all":
        raise ConfigError(
            f"ubp.toml: {shortened(where)} has a name that cannot be used.",
            cause=f"{shortened(name)!r} names a folder of the cache, and a language.",
            hint="Use lower-case letters, digits and . _ + -; `all` means every one.",
        )
