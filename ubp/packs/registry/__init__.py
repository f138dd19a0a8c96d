"""The registry pack: skills and knowledge units with quality and reputation.

Its truth is the database; that of skills in watched folders is their files.
"""

from pathlib import Path

from ubp.packs.registry import queries, writes
from ubp.packs.registry.acting import RULES, unseen_rows, visible_counts
from ubp.packs.registry.contribute_tools import contribute_knowledge, contribute_skill
from ubp.packs.registry.contributions import Contribution
from ubp.packs.registry.journal.writes import restore
from ubp.packs.registry.prompts import PROMPTS
from ubp.packs.registry.search_tools import search_knowledge, search_skill
from ubp.packs.registry.skill_folders import fingerprint, read_skill, source_of
from ubp.packs.registry.skill_resources import RESOURCES, SKILLS
from ubp.packs.registry.text_index import PACK_NAME
from ubp.packs.registry.trust_tools import query_reputation, validate_unit
from ubp.toolkit import ErrorStyle, Pack, Reading

__all__ = ("PACK",)

PACK = Pack(
    name=PACK_NAME,
    summary=(
        "skills and knowledge that agents share: what worked before, with its quality "
        "and who vouches for it"
    ),
    guide=(
        "What worked for other agents: kp_search_skill and kp_search_knowledge before "
        "unfamiliar work; kp_validate_unit after using one; kp_contribute_skill or "
        "kp_contribute_knowledge for what you learnt."
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
    counts=visible_counts,
    hidden=unseen_rows,
    reading=Reading(
        source=source_of,
        fingerprint=fingerprint,
        record=Contribution,
        read=read_skill,
        save=writes.save,
        forget=writes.forget,
        rename=writes.rename,
        settle=writes.settle,
        optimize=writes.optimize,
    ),
    rules=RULES,
    restore=restore,
    resources=RESOURCES,
    prompts=PROMPTS,
    skills=SKILLS,
)
