"""The board pack: a kanban board that people and agents share.

Its truth is Markdown files.
"""

from pathlib import Path

from ubp.packs.board import queries, writes
from ubp.packs.board.board_resources import RESOURCES
from ubp.packs.board.boards import follow_default
from ubp.packs.board.card_tools import done_card, move_card, new_card, update_card
from ubp.packs.board.listing_tools import get_card, list_cards
from ubp.packs.board.notes_tools import append_note, list_notes
from ubp.packs.board.prompts import PROMPTS
from ubp.packs.board.records import READER, CardRecord, read_file, source_of
from ubp.packs.board.relation_tools import card_tree, set_relations
from ubp.packs.board.text_index import PACK_NAME
from ubp.packs.board.watch_tools import watch_board
from ubp.project import Project
from ubp.toolkit import ErrorStyle, Pack, Reading

__all__ = ("PACK",)


def _fingerprint(project: Project) -> str:
    board = project.settings.board
    return f"{READER}:{board.dir}:{board.link_docs}"


PACK = Pack(
    name=PACK_NAME,
    summary=(
        "the kanban board of Markdown cards that people and agents share: find, make, "
        "move, link and finish cards, and keep notes on them"
    ),
    guide=(
        "Tasks: kanban_list and kanban_get to begin, kanban_move as work goes on, "
        "kanban_notes_append for what was done or decided, kanban_done at the end."
    ),
    tools=(
        list_cards,
        get_card,
        new_card,
        move_card,
        done_card,
        update_card,
        set_relations,
        card_tree,
        append_note,
        list_notes,
        watch_board,
    ),
    errors=ErrorStyle.CATEGORIES,
    migrations=Path(__file__).parent / "migrations",
    reading=Reading(
        source=source_of,
        fingerprint=_fingerprint,
        record=CardRecord,
        read=read_file,
        save=writes.save,
        forget=writes.forget,
        rename=writes.rename,
        settle=writes.settle,
        optimize=writes.optimize,
    ),
    resources=RESOURCES,
    prompts=PROMPTS,
    begin=follow_default,
    counts=queries.counts,
)
