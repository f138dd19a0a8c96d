"""Relevance sets: read, and checked before hours are spent on them.

A set is a folder with a ``META.json``, whose ``corpus`` names a folder of Markdown
relative to it, and a ``queries.jsonl``. Several sets may share a corpus.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bench.quality.score import normal_heading, normal_path

__all__ = ("Broken", "Query", "RelevanceSet", "Relevant", "markdown_in", "read_sets")

_SUFFIX = ".md"

Decoded = TypeVar("Decoded", bound=Struct)


class Broken(Exception):
    """A set that cannot be used; the message says which, and why."""


class Relevant(Struct, frozen=True):
    """A page, or with a heading a section, that answers a query."""

    filepath: Annotated[str, Meta(min_length=1)]
    heading: str | UnsetType | None = UNSET


class Query(Struct, frozen=True):
    """A question and its answers."""

    id: str
    query: Annotated[str, Meta(pattern=r"\S")]
    relevant: Annotated[tuple[Relevant, ...], Meta(min_length=1)]
    lang: str = ""

    @property
    def pages(self) -> set[str]:
        """The files that answer it."""
        return {normal_path(each.filepath) for each in self.relevant}

    @property
    def sections(self) -> set[tuple[str, str]]:
        """The sections that do; none unless every answer names its heading."""
        found = {
            (normal_path(each.filepath), normal_heading(each.heading or ""))
            for each in self.relevant
            if each.heading is not UNSET
        }
        complete = all(each.heading is not UNSET for each in self.relevant)
        return found if complete else set()


class _About(Struct, frozen=True):
    """What is used of ``META.json``."""

    corpus: Annotated[str, Meta(min_length=1)]
    lang: str = ""
    unit: str = ""


class RelevanceSet(NamedTuple):
    """A set that can be measured."""

    name: str
    corpus: Path
    """Absolute and real, so that sets which share it can be told."""
    lang: str
    unit: str
    queries: tuple[Query, ...]


def read_sets(folder: Path, names: Iterable[str] | None = None) -> list[RelevanceSet]:
    """The sets of these names in *folder*, in their order, or all of them by name.

    Raises:
        Broken: There is no such set, or a file of it is missing or not as it should be.
    """
    if not folder.is_dir():
        raise Broken(f"{folder}: there is no such folder.")
    there = sorted(
        each.name
        for each in folder.iterdir()
        if each.is_dir() and not each.name.startswith(".")
    )
    wanted = there if names is None else list(dict.fromkeys(names))
    if not wanted:
        raise Broken(f"{folder}: there are no sets in it.")
    for name in wanted:
        if name not in there:
            known = ", ".join(there) or "none"
            raise Broken(f"{folder}: there is no set {name!r}; there are: {known}.")
    return [_read_set(folder / name) for name in wanted]


def markdown_in(corpus: Path) -> list[str]:
    """The Markdown files below *corpus*, relative to it, sorted."""
    found: list[str] = []
    for folder, _, files in os.walk(corpus):
        below = Path(folder).relative_to(corpus)
        found += [(below / file).as_posix() for file in files if file.endswith(_SUFFIX)]
    return sorted(found)


def _read_set(folder: Path) -> RelevanceSet:
    about_file = folder / "META.json"
    about = _decoded(about_file, _bytes(about_file), _About)
    corpus = (folder / about.corpus).resolve()
    if not corpus.is_dir():
        raise Broken(f"{about_file}: corpus: there is no folder {about.corpus!r}.")
    pages = {normal_path(path) for path in markdown_in(corpus)}
    if not pages:
        raise Broken(f"{about_file}: corpus: no Markdown in {about.corpus!r}.")
    queries = _read_queries(folder / "queries.jsonl", pages)
    return RelevanceSet(folder.name, corpus, about.lang, about.unit, queries)


def _read_queries(file: Path, pages: set[str]) -> tuple[Query, ...]:
    queries: list[Query] = []
    seen: set[str] = set()
    # By line feeds alone: a query may contain what else Unicode ends lines with.
    for number, line in enumerate(_bytes(file).split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        query = _decoded(where, line, Query)
        if query.id in seen:
            raise Broken(f"{where}: the id {query.id!r} is there twice.")
        if missing := sorted(query.pages - pages):
            raise Broken(f"{where}: {missing[0]!r} is not in the corpus.")
        seen.add(query.id)
        queries.append(query)
    if not queries:
        raise Broken(f"{file}: there are no queries in it.")
    return tuple(queries)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Broken(f"{file}: cannot be read: {error.strerror}.") from None


def _decoded(where: object, text: bytes, kind: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Broken(f"{where}: {error}.") from None
