"""The notes pack: personal notes by meaning and tag. Its truth is Markdown files."""

from pathlib import Path

from ubp.config import Settings
from ubp.packs.notes import queries, writes
from ubp.packs.notes.folders import source_of
from ubp.packs.notes.listing_tools import EXTRA_TOOLS
from ubp.packs.notes.note_tools import get_note, list_tags
from ubp.packs.notes.records import READER, NoteRecord, docs_prefix, read_note
from ubp.packs.notes.search_tools import search_notes
from ubp.packs.notes.text_index import PACK_NAME
from ubp.project import Project
from ubp.toolkit import ErrorStyle, Pack, Reading

__all__ = ("PACK",)


def _fingerprint(project: Project) -> str:
    return f"{READER}:{docs_prefix(project)}"


def _wants_extra_tools(settings: Settings) -> bool:
    return settings.notes.extra_tools


PACK = Pack(
    name=PACK_NAME,
    summary=(
        "the user's personal notes: what they once wrote about something, by meaning "
        "and tag"
    ),
    guide=(
        "The user's own notes: search_docs, then get_doc; list_tags to filter by tag."
    ),
    tools=(search_notes, get_note, list_tags),
    errors=ErrorStyle.RESULTS,
    migrations=Path(__file__).parent / "migrations",
    reading=Reading(
        source=source_of,
        fingerprint=_fingerprint,
        record=NoteRecord,
        read=read_note,
        save=writes.save,
        forget=writes.forget,
        rename=writes.rename,
        settle=writes.settle,
        optimize=writes.optimize,
    ),
    texts=queries.passages,
    indented_text=True,
    extra_tools=EXTRA_TOOLS,
    wants_extra_tools=_wants_extra_tools,
    counts=queries.counts,
)
