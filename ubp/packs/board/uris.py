"""``kanban://`` URIs: what they name, and how they are written."""

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from ubp.packs.board.ulids import ulid_or_none

__all__ = ("PREFIX", "Address", "board_uri", "card_uri", "parsed_uri")

PREFIX = "kanban://"

_URI = re.compile(r"kanban://([^/?#]+)/([^?#]*)(?:\?([^#]*))?\Z")
_CARD = re.compile(r"cards/([^/]+)(?:/(state|markdown|body))?\Z")
_TREE = re.compile(r"tree/([^/]+)\Z")


class Address(NamedTuple):
    """What a URI names."""

    board: str
    kind: str
    """board, columns, manual, tree, card, state, markdown or body."""
    card: str | None = None
    options: str = ""


def board_uri(board: str, what: str = "board") -> str:
    return f"{PREFIX}{quote(board, safe='')}/{what}"


def card_uri(board: str, card: str, kind: str | None = None) -> str:
    uri = board_uri(board, f"cards/{card}")
    return uri if kind is None else f"{uri}/{kind}"


def parsed_uri(uri: str) -> Address | None:
    """What *uri* names; None if it is none of ours."""
    match = _URI.match(uri)
    if match is None:
        return None
    board, path, options = unquote(match[1]), match[2], match[3] or ""
    if path in ("board", "columns", "manual"):
        return Address(board, path, None, options)
    for pattern, default in ((_CARD, "card"), (_TREE, "tree")):
        if found := pattern.match(path):
            card = ulid_or_none(found[1])
            if card is None:
                return None
            kind = found[2] if pattern is _CARD and found[2] else default
            return Address(board, kind, card, options)
    return None
