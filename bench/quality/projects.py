"""A corpus as a project: copied into a work folder and indexed there.

Whatever an earlier run left in the folder is used: files that have not changed are not
copied again, so their stamps stay and the index leaves them alone, and vectors that
were made are kept. A run that was interrupted goes on where it was.
"""

import hashlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread
import apsw

from bench.quality.sets import markdown_in
from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan
from ubp.actors.wiring import index_once
from ubp.packs import enabled
from ubp.packs.docs import queries
from ubp.project import Project, open_project
from ubp.store import files, vectors
from ubp.store.session import reading

__all__ = ("Indexed", "NotEmbedded", "indexed", "say")

_DRAW_EVERY = 0.2
_SAY_EVERY = 15.0
"""Seconds between two lines of progress, on a terminal and in a log."""


class NotEmbedded(Exception):
    """Vectors are missing, so their search cannot be measured."""


class Indexed(NamedTuple):
    """A corpus that can be searched, and how large it is."""

    project: Project
    pages: int
    sections: int
    vectors: int
    model: str
    """What its vectors are of; empty without any."""


async def indexed(corpus: Path, work: Path, *, embed: bool) -> Indexed:
    """The project of *corpus* in *work*, its index brought up to date.

    Raises:
        NotEmbedded: The model could not be used.
    """
    name = _name(corpus)
    project = await anyio.to_thread.run_sync(_copied, corpus, work / name)
    packs = enabled(["docs"])  # what is searched here; others would cost time
    progress = Progress()
    async with anyio.create_task_group() as group:
        group.start_soon(_show, name, progress)
        try:
            await index_once(project, packs, Scan(), progress, embed=embed)
        finally:
            group.cancel_scope.cancel()
    if embed and progress.not_embedded:
        raise NotEmbedded(f"{name}: {progress.not_embedded}")
    async with reading(project.database) as session:
        found, unread = await session.run(_looked_at, project)
    if embed and (waiting := await _still_waiting(project)):
        raise NotEmbedded(f"{name}: {waiting} sections have no vectors yet.")
    say(
        f"{name}: {found.pages} pages, {found.sections} sections, "
        f"{found.vectors} with vectors"
        + (f"; {unread} files could not be read" if unread else "")
    )
    return found


def say(line: str) -> None:
    """A line for whoever watches: on standard error, which is nobody's result."""
    _write(f"{line}\n")


def _name(corpus: Path) -> str:
    """A folder for each corpus; for people by the set it lies in."""
    digest = hashlib.sha256(str(corpus).encode("utf-8", "surrogateescape"))
    named = corpus.parent.name if corpus.name == "corpus" else corpus.name
    return f"{named}-{digest.hexdigest()[:8]}"


def _copied(corpus: Path, root: Path) -> Project:
    """Make the docs folder at *root* as *corpus* is."""
    docs = root / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    wanted = markdown_in(corpus)
    for path in wanted:
        source, copy = corpus / path, docs / path
        if not _same(source, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            # With its time of change: by that the next run knows it.
            shutil.copy2(source, copy)
    for path in set(markdown_in(docs)) - set(wanted):
        (docs / path).unlink()
    return open_project(root)


def _same(source: Path, copy: Path) -> bool:
    try:
        old, new = copy.stat(), source.stat()
    except FileNotFoundError:
        return False
    return (old.st_size, old.st_mtime_ns) == (new.st_size, new.st_mtime_ns)


def _looked_at(db: apsw.Connection, project: Project) -> tuple[Indexed, int]:
    counts = queries.counts(db)
    model = vectors.serving(db)
    made = vectors.progress(db).completed
    identity = model.identity if model and made else ""
    found = Indexed(project, counts.pages, counts.sections, made, identity)
    return found, len(files.failures(db))


async def _still_waiting(project: Project) -> int:
    async with reading(project.database) as session:
        return await session.run(vectors.count_waiting, 1_000)


async def _show(name: str, progress: Progress) -> None:
    """Say how far it is, for as long as this runs."""
    drawn = sys.stderr.isatty()
    shown = ""
    draw: Callable[[str], None] = (
        (lambda line: _write(f"\r\x1b[K{line}")) if drawn else say
    )
    try:
        while True:
            await anyio.sleep(_DRAW_EVERY if drawn else _SAY_EVERY)
            line = (
                f"{name}: {progress.done}/{progress.found} files, "
                f"{progress.embedded}/{progress.to_embed} vectors"
            )
            if line != shown:
                draw(line)
            shown = line
    finally:
        if drawn:
            _write("\r\x1b[K")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
