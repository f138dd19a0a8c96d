"""The docs pack: a typed document graph. Its truth is Markdown files."""

from pathlib import Path

from ubp.packs.docs import writes
from ubp.packs.docs.records import PageRecord, read_page
from ubp.packs.docs.tools import TOOLS
from ubp.project import Project
from ubp.toolkit import ErrorStyle, Pack, Reading, Source

__all__ = ("PACK",)


def _source(project: Project) -> Source:
    wanted = project.settings.source
    return Source(project.docs_dir, wanted.include, wanted.exclude)


PACK = Pack(
    name="docs",
    summary=(
        "project documentation as a typed graph: search it, read a page, gather its "
        "context, follow links, and see which pages are stale"
    ),
    tools=TOOLS,
    errors=ErrorStyle.CODES,
    migrations=Path(__file__).parent / "migrations",
    reading=Reading(
        source=_source,
        record=PageRecord,
        read=read_page,
        save=writes.save,
        forget=writes.forget,
        settle=writes.settle,
        optimize=writes.optimize,
    ),
)
