"""Boards on disk, as people and programs make them."""

import json
import re
from pathlib import Path
from typing import Any

from ubp.packs.board.boards import Board
from ubp.packs.board.ulids import ULID
from ubp.reading import frontmatter

__all__ = ("NOBODY", "Hands", "ulid")

NOBODY = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
"""A well-formed id that no card has."""

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(number: int) -> str:
    """The n-th of a row of ids, ascending."""
    text = ""
    for _ in range(16):
        number, digit = divmod(number, 32)
        text = _CROCKFORD[digit] + text
    return "01HZY3K5E0" + text


class Hands:
    """Somebody who has the board's folder open in an editor."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kanban = root / ".kanban"
        self.kanban.mkdir(parents=True, exist_ok=True)

    def board(self) -> Board:
        """The board as a process sees it that has just been started."""
        return Board(self.root)

    def write(self, path: str, text: str) -> Path:
        file = self.kanban / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def card(
        self,
        number: int,
        title: str = "Card",
        column: str = "backlog",
        body: str = "",
        **fields: Any,
    ) -> str:
        ident = ulid(number)
        values = {"id": ident, "title": title, **fields}
        head = "".join(
            f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
            for key, value in values.items()
        )
        slug = re.sub(r"\W+", "-", title.lower()).strip("-") or "card"
        self.write(f"{column}/{ident}__{slug}.md", f"---\n{head}---\n\n{body}\n")
        return ident

    def files(self) -> dict[str, str]:
        """All cards there are, by path in ``.kanban``, whatever we think of them."""
        return {
            file.relative_to(self.kanban).as_posix(): file.read_text(encoding="utf-8")
            for file in sorted(self.kanban.rglob("*.md"))
            if ULID.match(file.name.partition("__")[0])
        }

    def file(self, ident: str) -> Path:
        (only,) = self.kanban.rglob(f"{ident}__*.md")
        return only

    def values(self, ident: str) -> dict[str, Any]:
        return frontmatter.split(self.file(ident).read_text(encoding="utf-8")).values

    def index(self, name: str) -> list[dict[str, Any]]:
        lines = (self.kanban / name).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
