"""A project: its root, its settings, and where everything derived from it lives."""

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ubp import config
from ubp.config import Settings
from ubp.errors import ConfigError

__all__ = ("Project", "find_root", "open_project")

_MARKERS = (config.FILE_NAME, ".ubp", ".git")


class Project(Struct, frozen=True):
    """One project. All of its paths are absolute and real."""

    root: Path
    settings: Settings
    docs_dir: Path
    """The folder of the pages. Found once: it may be away for a while."""
    unknown_settings: tuple[str, ...] = ()

    @property
    def derived(self) -> Path:
        """The folder of everything that can be made again."""
        return self.root / ".ubp"

    @property
    def database(self) -> Path:
        return self.derived / "index.db"

    @property
    def lock_file(self) -> Path:
        return self.derived / "serve.lock"

    @property
    def embedding_lock(self) -> Path:
        """Held by the one process that makes vectors."""
        return self.derived / "embed.lock"

    @property
    def log_file(self) -> Path | None:
        """Where a server's log goes as JSON lines; None where it goes nowhere."""
        given = self.settings.log.file
        if given is None:
            return self.derived / "serve.log"
        return self.root / given if given else None

    @property
    def board_dir(self) -> Path:
        """The folder that holds the board. It, and the board, may yet be made."""
        return Path(os.path.realpath(self.root / self.settings.board.dir))

    def with_board(self, place: str) -> "Project":
        """The same project with the board at *place*, wherever that is.

        Raises:
            ConfigError: It is no folder.
        """
        try:
            folder = Path(os.path.realpath(self.root / place))
            is_folder = folder.is_dir()
        except (OSError, ValueError):
            folder, is_folder = self.root, False
        if not is_folder:
            raise ConfigError(
                "--board names something that is not a folder.",
                cause=f"There is no folder {place!r}.",
                hint="Give --board the folder that holds .kanban/, or is to.",
            )
        board = replace(self.settings.board, dir=str(folder))
        return replace(self, settings=replace(self.settings, board=board))

    def prepare(self) -> None:
        """Make the folder for derived files; git is told to leave it alone."""
        try:
            # Without its parents: a project that was deleted is not made again.
            self.derived.mkdir(exist_ok=True)
            ignore = self.derived / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(
                "The folder .ubp cannot be made in the project.",
                cause=f"{error.strerror}.",
                hint="Make room for it: it holds everything that is derived.",
            ) from None


def find_root(start: Path) -> Path:
    """The nearest folder from *start* upwards that marks a project, else *start*."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if any((folder / marker).exists() for marker in _MARKERS):
            return folder
    return start


_DOCS = "docs"


def _docs_dir(root: Path, settings: Settings) -> Path | None:
    """The folder of the pages, as set, else ``docs/`` if there is one.

    None if it is meant to be there and is not.
    """
    wanted = root / (_DOCS if settings.docs_dir is None else settings.docs_dir)
    try:
        # Not resolve(): a link that leads through itself is no bug of ours.
        found = Path(os.path.realpath(wanted))
        if found.is_dir():
            return found
    except (OSError, ValueError):  # no path at all
        pass
    # Who made a link wants what it leads to, be it away for now; not all there is.
    meant = settings.docs_dir is not None or wanted.is_symlink()
    return None if meant else root


def open_project(root: Path | None = None) -> Project:
    """The project at *root*, or around the current directory.

    Raises:
        ConfigError: There is no such folder, or its settings cannot be used.
    """
    if root is None:
        root = find_root(Path.cwd())
    root = Path(os.path.realpath(root))
    if not root.is_dir():
        raise ConfigError(
            f"There is no folder {root.name!r} to use as the project.",
            cause="--root names something that is not a folder.",
            hint="Give --root the folder that holds your documents.",
        )
    settings, unknown = config.load(root / config.FILE_NAME)
    docs_dir = _docs_dir(root, settings)
    if docs_dir is None:
        if settings.docs_dir is None:
            raise ConfigError(
                "The docs folder is a link that leads nowhere.",
                cause=f"What the link {_DOCS!r} in the project points to is not there.",
                hint="Mend or remove the link, or set docs_dir in ubp.toml.",
            )
        raise ConfigError(
            "ubp.toml: docs_dir is not a folder.",
            cause=f"There is no folder {settings.docs_dir!r} in the project.",
            hint="Create it, or correct docs_dir.",
        )
    if not docs_dir.is_relative_to(root):
        raise ConfigError(
            "The docs folder (docs_dir) leaves the project.",
            cause=f"{settings.docs_dir or _DOCS!r} is outside the project's root.",
            hint="Use a folder inside the project, or --root on the other one.",
        )
    if not _leads_inside(root, settings.board.dir):
        raise ConfigError(
            "ubp.toml: board.dir leaves the project.",
            cause=f"{settings.board.dir!r} is outside the project's root.",
            hint="Use a folder inside the project, or --board for another place.",
        )
    return Project(root, settings, docs_dir, tuple(unknown))


def _leads_inside(root: Path, given: str) -> bool:
    try:
        return Path(os.path.realpath(root / given)).is_relative_to(root)
    except ValueError:  # no path at all
        return False
