"""Which page a link means, among the pages there are."""

import unicodedata
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import link_targets, page_paths

from ubp.packs.docs.links import key_of, plan
from ubp.packs.docs.resolution import Candidate, Target, resolved


class Pages:
    """The names of a few pages, as a dictionary of paths to titles has them."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self.paths = sorted(titles)
        self._titles = titles

    def by_path(self, key: str) -> list[Candidate]:
        return self._where(lambda path: key_of(path) == key)

    def by_name(self, key: str) -> list[Candidate]:
        return self._where(lambda path: key_of(path).rpartition("/")[2] == key)

    def by_title(self, key: str) -> list[Candidate]:
        return self._where(lambda path: key_of(self._titles[path]) == key)

    def _where(self, fits: "Callable[[str], bool]") -> list[Candidate]:
        return [
            Candidate(number, path)
            for number, path in enumerate(self.paths)
            if fits(path)
        ]
