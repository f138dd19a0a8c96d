"""The docs pack: a typed document graph. Its truth is Markdown files."""

from pathlib import Path

from ubp.packs.docs import queries, writes
from ubp.packs.docs.overview_tools import get_graph, list_pages
from ubp.packs.docs.page_resources import RESOURCES
from ubp.packs.docs.page_tools import get_context, get_page
from ubp.packs.docs.prompts import PROMPTS
from ubp.packs.docs.records import READER, PageRecord, read_page
from ubp.packs.docs.search_tools import fulltext_search, search_pages
from ubp.packs.docs.text_index import PACK_NAME
from ubp.project import Project
from ubp.reading.markdown_files import markdown_source
from ubp.toolkit import ErrorStyle, Pack, Reading, Source

__all__ = ("PACK", "source_of")


def source_of(project: Project) -> Source:
    """Where the pages of *project* are.

    Raises:
        ConfigError: A glob in the settings cannot be used.
    """
    return markdown_source(project, project.docs_dir)


def _fingerprint(project: Project) -> str:
    return f"{READER}:{project.settings.docs.site_prefix}"


PACK = Pack(
    name=PACK_NAME,
    summary=(
        "project documentation as a typed graph: search it, read a page, gather its "
        "context, follow links, and see which pages are stale"
    ),
    guide=(
        "Documentation: ubp_search first; ubp_fulltext_search for exact names and "
        "codes; ubp_get_page to read; ubp_get_context before changing what a page "
        "describes. Mind `staleness`."
    ),
    tools=(
        search_pages,
        get_page,
        get_context,
        fulltext_search,
        list_pages,
        get_graph,
    ),
    errors=ErrorStyle.CODES,
    migrations=Path(__file__).parent / "migrations",
    reading=Reading(
        source=source_of,
        fingerprint=_fingerprint,
        record=PageRecord,
        read=read_page,
        save=writes.save,
        forget=writes.forget,
        rename=writes.rename,
        settle=writes.settle,
        optimize=writes.optimize,
    ),
    texts=queries.passages,
    resources=RESOURCES,
    prompts=PROMPTS,
)
