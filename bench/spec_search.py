"""How often is the section that answers among the first five of ``search_spec``?

    python -m bench.spec_search --relevance DIR --work DIR [--sets NAME…] [--no-embed]

Each set of ``DIR`` is ingested as a language of its own, from its Markdown, and every
query is asked of the running service, as a client would. Beside it stands plain BM25
over the same sections: words in lower case, no stems, k1 1.2, b 0.75. Relevance is that
of the set: pages, and sections where every answer of a query names its heading. nDCG
over the first ten stands beside, to be compared with what others publish.

What is kept in ``--work`` is used again: vectors are made once.
"""

import argparse
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec

from bench.quality.score import mean, normal_heading, normal_path, score, unique
from bench.quality.sets import Broken, RelevanceSet, read_sets
from ubp import telemetry
from ubp.actors.progress import Progress
from ubp.actors.watcher import Scan
from ubp.actors.wiring import index_once, readable, serving, writable
from ubp.config import FetchPatience
from ubp.packs import enabled
from ubp.packs.specs import queries
from ubp.packs.specs.ingesting import Run, ingest
from ubp.packs.specs.languages import language
from ubp.packs.specs.queries import StoredSection
from ubp.project import Project, open_project
from ubp.protocol.dispatch import Dispatcher

_FIRST = 5
_LIMIT = 20
"""Results asked for: several sections may be of one page."""

_K1, _B = 1.2, 0.75

Place = tuple[str, str]
"""A page and a heading."""

Item = TypeVar("Item", bound=Hashable)


class Bm25:
    """The baseline: the sections of a document, ranked by their words alone."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        self._sizes = [sum(each.values()) for each in self._counts]
        self._average = sum(self._sizes) / len(texts)
        standing = Counter(word for each in self._counts for word in each)
        self._worth = {
            word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
            for word, n in standing.items()
        }

    def ranked(self, query: str) -> list[int]:
        """The texts that have a word of *query*, best first."""
        scores = [self._score(number, query) for number in range(len(self._counts))]
        order = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
        return [number for number in order if scores[number] > 0]

    def _score(self, number: int, query: str) -> float:
        counts = self._counts[number]
        norm = _K1 * (1 - _B + _B * self._sizes[number] / self._average)
        return sum(
            self._worth[word] * counts[word] / (counts[word] + norm)
            for word in _words(query)
            if word in counts
        )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--relevance", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", metavar="NAME")
    parser.add_argument("--no-embed", action="store_true")
    given = parser.parse_args(arguments)
    try:
        sets = read_sets(given.relevance, given.sets)
    except Broken as error:
        sys.stderr.write(f"{error}\n")
        return 1
    telemetry.configure("warn")
    for each in sets:
        anyio.run(_measure, each, given.work, not given.no_embed)
    return 0


async def _measure(each: RelevanceSet, work: Path, embed: bool) -> None:
    name = each.name.replace("_", "-")
    project = _project(each, work / name, name)
    packs = enabled(["specs"], project.settings)
    told = Run(when=datetime.now(UTC), patience=FetchPatience(), here=project.root)
    async with writable(project) as session:
        document = language(project.settings, name).document(None)
        done = await ingest(project, session, document, told, lambda _, __: None)
    if done.error is not None:
        raise done.error
    await index_once(project, packs, Scan(), Progress(), embed=embed)
    async with readable(project) as session:
        newest = await session.run(queries.newest, name, document.doc)
        if newest is None:
            raise LookupError(name)
        sections = await session.run(queries.stored_sections, newest.id)
        pages = await session.run(queries.stored_pages, newest.id)
    places = {
        section.row.section_id: _place(pages[section.row.page].path, section)
        for section in sections
    }
    texts = [f"{section.row.path}\n{section.row.fulltext}" for section in sections]
    plain = Bm25(texts)
    ours: list[list[Place]] = []
    theirs: list[list[Place]] = []
    async with serving(project, packs) as service:
        dispatcher = Dispatcher(service, packs)
        _, tool = dispatcher.find("search_spec")
        for query in each.queries:
            asked = {
                "language": name,
                "query": query.query,
                "filters": {"limit": _LIMIT},
            }
            found = await dispatcher.call(tool, asked, query.id)
            ours.append([places[hit.section_id] for hit in found.result])
            ranked = plain.ranked(query.query)
            theirs.append([places[sections[n].row.section_id] for n in ranked])
    row = {
        "set": each.name,
        "sections": len(sections),
        "pages": len(pages),
        **_numbers("ours", each, ours),
        **_numbers("bm25", each, theirs),
    }
    print(msgspec.json.encode(row).decode(), flush=True)


def _project(each: RelevanceSet, root: Path, name: str) -> Project:
    root.mkdir(parents=True, exist_ok=True)
    (root / "docs").mkdir(exist_ok=True)
    path = msgspec.json.encode(str(each.corpus)).decode()
    settings = f'[specs.sources.{name}]\nstrategy = "local"\npath = {path}\n'
    settings += 'policy = "local_fulltext_ok"\n'
    (root / "ubp.toml").write_text(settings, encoding="utf-8")
    return open_project(root)


def _place(path: str, section: StoredSection) -> Place:
    return normal_path(path), normal_heading(section.row.title)


def _numbers(
    name: str, each: RelevanceSet, rankings: Sequence[Sequence[Place]]
) -> dict[str, float]:
    """How often what answers is among the first five, and nDCG over the first ten."""
    asked = list(zip(each.queries, rankings, strict=True))
    of_pages = [(query.pages, [page for page, _ in found]) for query, found in asked]
    of_sections = [
        (query.sections, list(found)) for query, found in asked if query.sections
    ]
    return {
        **_means(f"{name}_page", of_pages),
        **_means(f"{name}_section", of_sections),
    }


def _means(
    name: str, judged: Sequence[tuple[Collection[Item], list[Item]]]
) -> dict[str, float]:
    if not judged:
        return {}
    hits = [
        not set(unique(ranking)[:_FIRST]).isdisjoint(want) for want, ranking in judged
    ]
    ndcg = mean([score(ranking, want) for want, ranking in judged]).ndcg
    return {
        f"{name}_hit5": round(sum(hits) / len(hits), 3),
        f"{name}_ndcg10": round(ndcg, 3),
    }


if __name__ == "__main__":
    sys.exit(main())
