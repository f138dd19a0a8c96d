"""A card's file -> what the index of words keeps of it."""

import re

from msgspec import Struct

from ubp import lexicon
from ubp.messages import Warned
from ubp.packs.board.cards import Card, body_of, read_card
from ubp.packs.board.names import DONE, RESERVED, parsed
from ubp.packs.board.view import KANBAN
from ubp.project import Project
from ubp.reading import markdown
from ubp.toolkit import FileText, Source

__all__ = ("READER", "CardRecord", "card_text", "read_file", "source_of")

READER = 1
"""Raised whenever the same file would give another record."""


class CardRecord(Struct, frozen=True, array_like=True):
    """The words of one card."""

    card_id: str
    heading: str
    content: str
    folded: str | None
    has_long_word: bool
    index_heading: str
    index_content: str
    words: str
    pages: tuple[str, ...]
    """What it names of the documents, where that is wanted."""
    shown: str
    """Where it is, from the project's root; from the board's if that is elsewhere."""
    title: str


def source_of(project: Project) -> Source:
    """The files of the project's own board; none while there is no board."""
    kanban = project.board_dir / KANBAN
    is_there = kanban.is_dir() and not kanban.is_symlink()
    return Source(
        kanban,
        ["*/**/*.md"],
        [f"{name}/**" for name in sorted(RESERVED)],
        suffix=".md",
        tops=("",) if is_there else (),
    )


def card_text(title: str, ident: str, text: str) -> tuple[str, str]:
    """What of a card a query is compared with: title and id, and the body."""
    return f"{title} {ident}", body_of(text)


def read_file(file: FileText) -> tuple[CardRecord, list[Warned]]:
    """Understand one file; one that is no card's has no words."""
    name = parsed(file.path.rpartition("/")[2])
    if name is None:
        return CardRecord("", "", "", None, False, "", "", "", (), "", ""), []
    column = file.path.partition("/")[0]
    card = read_card(file.path, column or DONE, name, file.text.encode())
    heading, content = card_text(card.title, card.id, file.text)
    text = f"{heading}\n{content}"
    folded = lexicon.fold(text)
    folded_heading, _, folded_content = folded.partition("\n")
    in_heading = lexicon.spread(folded_heading)
    in_content = lexicon.spread(folded_content)
    record = CardRecord(
        card.id,
        heading,
        content,
        None if text.isascii() or folded == lexicon.ascii_lower(text) else folded,
        in_heading.has_long_word or in_content.has_long_word,
        in_heading.text,
        in_content.text,
        " ".join(sorted(in_heading.words | in_content.words)),
        _pages(card, content, file.project),
        _shown_path(file.project, file.path),
        card.title,
    )
    return record, []


def _pages(card: Card, body: str, project: Project) -> tuple[str, ...]:
    """The pages a card names, in ``docs`` of its front matter and by wikilinks."""
    if not project.settings.board.link_docs:
        return ()
    links = markdown.read(body).links
    named = [link.target for link in links if link.style == "wiki"]
    # Paths may be from the project's root, as people know them.
    folder = project.docs_dir.relative_to(project.root).as_posix()
    given = [
        text.removeprefix("[[").removesuffix("]]").removeprefix(f"{folder}/")
        for text in card.texts("docs")
    ]
    names = [re.split(r"[|#]", name)[0].strip() for name in (*given, *named)]
    return tuple(dict.fromkeys(name for name in names if name))


def _shown_path(project: Project, path: str) -> str:
    whole = project.board_dir / KANBAN / path
    if whole.is_relative_to(project.root):
        return whole.relative_to(project.root).as_posix()
    return f"{KANBAN}/{path}"
