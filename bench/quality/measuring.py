"""Measure sets: index each corpus once, ask every query, score what is found."""

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio

from bench.quality.projects import Indexed, NotEmbedded, indexed, say
from bench.quality.rankings import Mode, Ranking, rank, unnamed
from bench.quality.score import Scores, mean, score
from bench.quality.sets import Query, RelevanceSet
from ubp.actors.meaning import DirectMeaning
from ubp.actors.model_processes import ModelProcesses
from ubp.config import Settings
from ubp.errors import UbpError, innermost
from ubp.languages import language_of
from ubp.messages import NoVector, QueryVector
from ubp.project import Project
from ubp.store import vectors
from ubp.store.session import Session, reading

__all__ = ("Level", "MeasuredSet", "measure")


class Level(NamedTuple):
    """The numbers of one mode."""

    document: Scores
    section: Scores | None
    """None where no query names sections."""


class MeasuredSet(NamedTuple):
    """The numbers of one set."""

    name: str
    lang: str
    queries: int
    section_queries: int
    with_vector: int
    """Queries in a language the model knows; the others are found by words alone."""
    unnamed: int
    """Queries whose sections are not in the index by those headings."""
    corpus: Indexed
    modes: dict[Mode, Level]


async def measure(
    sets: Sequence[RelevanceSet],
    modes: Sequence[Mode],
    work: Path,
    jobs: int,
    done: Callable[[MeasuredSet], None],
) -> list[str]:
    """Hand each set's numbers to *done* as they come; the names of those that failed.

    A corpus is indexed once, whatever the number of sets that share it, and *jobs* of
    them at a time.
    """
    of_corpus: dict[Path, list[RelevanceSet]] = {}
    for each in sets:
        of_corpus.setdefault(each.corpus, []).append(each)
    failed: list[str] = []
    turn = anyio.CapacityLimiter(jobs)
    async with anyio.create_task_group() as models:
        # One for all queries of all sets: a model takes longer to load than to ask.
        processes = ModelProcesses(models, Project(work, Settings(), work))

        async def take(corpus: Path, some: list[RelevanceSet]) -> None:
            async with turn:
                names = [each.name for each in some]
                try:
                    await _measure_corpus(corpus, some, modes, work, processes, done)
                # The sets of other corpora are worth measuring all the same.
                except Exception as error:  # noqa: BLE001
                    say(f"{', '.join(names)}: failed: {_told(error)}")
                    failed.extend(names)

        try:
            async with anyio.create_task_group() as group:
                for corpus, some in of_corpus.items():
                    group.start_soon(take, corpus, some)
        finally:
            await processes.aclose()
            models.cancel_scope.cancel()
    return failed


def _told(error: BaseException) -> str:
    """One line for what was foreseen, everything for what was not."""
    first = innermost(error)
    if isinstance(first, UbpError):
        return f"{first.message} {first.cause} {first.hint}"
    if isinstance(first, NotEmbedded):
        return str(first)
    return "".join(traceback.format_exception(error))


async def _measure_corpus(
    corpus: Path,
    sets: Sequence[RelevanceSet],
    modes: Sequence[Mode],
    work: Path,
    processes: ModelProcesses,
    done: Callable[[MeasuredSet], None],
) -> None:
    by_vector = any(mode != "keyword" for mode in modes)
    found = await indexed(corpus, work, embed=by_vector)
    async with reading(found.project.database) as session:
        meaning = DirectMeaning(found.project, session, processes)
        for each in sets:
            done(await _measure_set(each, modes, found, session, meaning))


async def _measure_set(
    asked: RelevanceSet,
    modes: Sequence[Mode],
    corpus: Indexed,
    session: Session,
    meaning: DirectMeaning,
) -> MeasuredSet:
    defaults = corpus.project.settings.search
    by_vector = any(mode != "keyword" for mode in modes)
    documents: dict[Mode, list[Scores]] = {mode: [] for mode in modes}
    sections: dict[Mode, list[Scores]] = {mode: [] for mode in modes}
    with_vector = 0
    for query in asked.queries:
        vector = await _vector(query, session, meaning) if by_vector else None
        with_vector += vector is not None
        for mode in modes:
            ranking: Ranking = await session.run(
                rank, meaning.blocks, mode, query.query, vector, defaults
            )
            documents[mode].append(score(ranking.pages, query.pages))
            if query.sections:
                sections[mode].append(score(ranking.sections, query.sections))
    wanted = {place for query in asked.queries for place in query.sections}
    nowhere = await session.run(unnamed, wanted)
    return MeasuredSet(
        name=asked.name,
        lang=asked.lang,
        queries=len(asked.queries),
        section_queries=sum(bool(query.sections) for query in asked.queries),
        with_vector=with_vector,
        unnamed=sum(
            bool(query.sections) and query.sections <= nowhere
            for query in asked.queries
        ),
        corpus=corpus,
        modes={
            mode: Level(
                mean(documents[mode]), mean(sections[mode]) if sections[mode] else None
            )
            for mode in modes
        },
    )


async def _vector(
    query: Query, session: Session, meaning: DirectMeaning
) -> QueryVector | None:
    """The query's vector; None if its language, or every page's, is not the model's.

    Raises:
        NotEmbedded: There should be one. Scored without it, search would look worse
            than it is, and nobody would know why.
    """
    found = await meaning.vector(query.query)
    if isinstance(found, NoVector):
        model = await session.run(vectors.serving)
        known = model is not None and model.dimension is not None
        if model and known and language_of(query.query) in model.languages:
            raise NotEmbedded(f"query {query.id}: {found.reason}")
        return None
    return found
