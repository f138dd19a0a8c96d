"""Which page a link means: a pure function of the names there are."""

import posixpath
from typing import NamedTuple, Protocol

from ubp.packs.docs.links import Plan, key_of

__all__ = ("Candidate", "Names", "Target", "resolved")


class Candidate(NamedTuple):
    """A page that might be meant."""

    page: int
    path: str


class Target(NamedTuple):
    """The page that is meant."""

    page: int
    ambiguous: bool = False


class Names(Protocol):
    """The pages by the keys of their names, each list in order of path."""

    def by_path(self, key: str) -> list[Candidate]: ...
    def by_name(self, key: str) -> list[Candidate]: ...
    def by_title(self, key: str) -> list[Candidate]: ...


def resolved(plan: Plan, source_path: str, names: Names) -> Target | None:
    """The target of a link on the page at *source_path*, or None if it dangles.

    Whole paths come first, then paths that end in the target, then titles.
    """
    for key in plan.exact:
        if found := names.by_path(key):
            return Target(found[0].page, len(found) > 1)
    if plan.ending is not None:
        ending = f"/{plan.ending}"
        found = [
            candidate
            for candidate in names.by_name(plan.name)
            if f"/{key_of(candidate.path)}".endswith(ending)
        ]
        if found:
            return _preferred(found, source_path)
    if plan.title is not None and (found := names.by_title(plan.title)):
        return _preferred(found, source_path)
    return None


def _preferred(found: list[Candidate], source_path: str) -> Target:
    """In the same folder; else the fewest folders deep; else first by path."""
    folder = posixpath.dirname(source_path)

    def distance(candidate: Candidate) -> tuple[bool, int, str]:
        away = posixpath.dirname(candidate.path) != folder
        return away, 0 if not away else candidate.path.count("/"), candidate.path

    return Target(min(found, key=distance).page, len(found) > 1)
