"""The registry pack: skills and knowledge units with quality and reputation.

Its truth is the database.
"""

from pathlib import Path

from ubp.packs.registry import queries
from ubp.packs.registry.contribute_tools import contribute_knowledge, contribute_skill
from ubp.packs.registry.search_tools import search_knowledge, search_skill
from ubp.packs.registry.text_index import PACK_NAME
from ubp.packs.registry.trust_tools import query_reputation, validate_unit
from ubp.toolkit import ErrorStyle, Pack

__all__ = ("PACK",)

PACK = Pack(
    name=PACK_NAME,
    summary=(
        "skills and knowledge that agents share: what worked before, with its quality "
        "and who vouches for it"
    ),
    tools=(
        search_skill,
        search_knowledge,
        contribute_skill,
        contribute_knowledge,
        validate_unit,
        query_reputation,
    ),
    errors=ErrorStyle.RESULTS,
    migrations=Path(__file__).parent / "migrations",
    texts=queries.passages,
    counts=queries.counts,
)
