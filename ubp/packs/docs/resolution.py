"""Which page a link means: a pure function of the names there are."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from ubp.packs.docs.links import Plan

__all__ = ("Candidate", "Group", "Names", "Target", "resolved")


class Candidate(NamedTuple):
    """A page that might be meant."""

    page: int
    path: str


class Target(NamedTuple):
    """The page that is meant."""

    page: int
    ambiguous: bool = False


class Group:
    """Pages of one name, looked through once however many links use the name."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        ordered = sorted(candidates, key=lambda each: (each.path.count("/"), each.path))
        self._shallowest = ordered[0] if ordered else None
        self._ambiguous = len(ordered) > 1
        self._in_folder: dict[str, Candidate] = {}
        for each in ordered:
            self._in_folder.setdefault(_folder(each.path), each)

    def target(self, source_path: str) -> Target | None:
        """The page in the same folder; else the least deep; else the first by path."""
        if self._shallowest is None:
            return None
        near = self._in_folder.get(_folder(source_path), self._shallowest)
        return Target(near.page, self._ambiguous)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


class Names(Protocol):
    """The pages by the keys of their names."""

    def by_path(self, key: str) -> Group: ...
    def by_ending(self, key: str) -> Group:
        """Pages whose path is, or ends with a slash and, *key*."""

    def by_title(self, key: str) -> Group: ...


def resolved(plan: Plan, source_path: str, names: Names) -> Target | None:
    """The target of a link on the page at *source_path*, or None if it dangles.

    Whole paths come first, then paths that end in the target, then titles.
    """
    for key in plan.exact:
        if found := names.by_path(key).target(source_path):
            return found
    if plan.ending is not None and (
        found := names.by_ending(plan.ending).target(source_path)
    ):
        return found
    if plan.title is not None:
        return names.by_title(plan.title).target(source_path)
    return None
