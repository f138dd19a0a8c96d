"""What a page is cut into, and what follows from the text of a section alone."""

import hashlib
import re

from msgspec import Struct

__all__ = (
    "EXCERPT",
    "SEPARATOR",
    "Cut",
    "Names",
    "anchor_of",
    "excerpt",
    "generated_id",
    "slug",
    "title_of",
)

EXCERPT = 1_200
"""Characters of a section that anybody may be shown."""

SEPARATOR = " > "
"""Between the headings of a section's path."""

_LONGEST_TITLE = 300
"""Characters. A heading that is longer is text somebody forgot to end the heading
before: as a title it would be given out whole, whatever the policy."""

_NOT_IN_SLUG = re.compile(r"[^\w\s-]")


class Cut(Struct, frozen=True, kw_only=True):
    """A section as its page has it."""

    title: str
    path: str
    """The headings it stands under, and its own."""
    name: str
    """What it is called on its page; another section of the page may be, too."""
    anchor: str
    """The fragment of its address."""
    content: str


def title_of(text: str) -> tuple[str, str]:
    """A heading's text as a title, and what of it is too long to be one."""
    title = " ".join(text.split())
    if len(title) <= _LONGEST_TITLE:
        return title, ""
    return title[:_LONGEST_TITLE].rstrip(), title


def slug(title: str) -> str:
    """The name of a section with this title; empty if no letter is left."""
    kept = _NOT_IN_SLUG.sub("", title.lower())
    return re.sub(r"-+", "-", re.sub(r"\s+", "-", kept))


def anchor_of(title: str) -> str:
    """The fragment that rendered books give this heading: nothing is collapsed."""
    return re.sub(r"\s", "-", _NOT_IN_SLUG.sub("", title.lower()))


def generated_id(page: str, title: str, ordinal: int) -> str:
    """A name for a heading that has none, the same in every run."""
    digest = hashlib.sha256(f"{page}|{title}|{ordinal}".encode("utf-8", "replace"))
    return f"gen-{digest.hexdigest()[:12]}"


def excerpt(fulltext: str) -> str:
    """What anybody may be shown of a section."""
    return fulltext if len(fulltext) <= EXCERPT else f"{fulltext[:EXCERPT]}..."


class Names:
    """Names that are in use, each by one section."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        """The last number each name was given with: thousands may share one."""

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def take(self, name: str) -> str:
        """*name*, with the first number that makes it one nobody has."""
        free, number = name, self._numbers.get(name, 0)
        while free in self._taken:
            number += 1
            free = f"{name}-{number}"
        self._numbers[name] = number
        self._taken.add(free)
        return free
