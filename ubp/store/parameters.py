"""Values on their way into SQL: what a statement can take, whatever a caller gave."""

from collections.abc import Iterable

import msgspec

__all__ = ("array", "storable")


def array(values: Iterable[int | str]) -> str:
    """Values as ``json_each`` reads them: one statement for any number of them."""
    return msgspec.json.encode(list(values)).decode()


def storable(text: str) -> str:
    """*text* without lone surrogates, which no stored name has."""
    return text.encode("utf-8", "replace").decode()
