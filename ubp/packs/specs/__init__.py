"""The specs pack: language specifications, cited. Its truth is the database."""

from pathlib import Path

from ubp.config import Settings
from ubp.packs.specs import queries
from ubp.packs.specs.languages import names
from ubp.packs.specs.listing_tools import list_languages, list_versions
from ubp.packs.specs.passages import PACK_NAME
from ubp.packs.specs.reading_tools import build_learning_plan, get_section
from ubp.packs.specs.search_tools import search_spec
from ubp.toolkit import ErrorStyle, Pack

__all__ = ("PACK",)


def _choices(settings: Settings) -> dict[str, tuple[str, ...]]:
    return {"language": tuple(names(settings))}


PACK = Pack(
    name=PACK_NAME,
    summary=(
        "official programming-language specifications: search a dated snapshot and "
        "cite section, link and exact words"
    ),
    guide=(
        "Language specifications: search_spec, then get_section; cite version and url."
    ),
    tools=(
        list_languages,
        list_versions,
        search_spec,
        get_section,
        build_learning_plan,
    ),
    errors=ErrorStyle.RESULTS,
    migrations=Path(__file__).parent / "migrations",
    texts=queries.passages,
    indented_text=True,
    explicit=True,
    choices=_choices,
    counts=queries.counts,
)
