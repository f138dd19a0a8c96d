"""Pieces: the Japanese vocabulary, learnt from the Japanese runs of the pairs.

Written twice: as sentencepiece makes it (``ja.model``) and as JSON for the
``tokenizers`` package (``pieces.json``), which the product reads. Both give the same
ids.
"""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sentencepiece
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from training.pairing import read_pairs
from training.progress import console, meter
from training.tokens import runs

__all__ = ("Different", "convert", "make_pieces", "verify")

_COVERAGE = 0.9999
_RUNS_TO_VERIFY = 10_000
_FULL_SIZE = 8000
"""Pieces from which there is room for every everyday kanji."""


class Different(Exception):
    """The two forms of the vocabulary give different ids."""


def make_pieces(work: Path, *, size: int, extra: Sequence[Path], seed: int) -> None:
    """Learn the pieces, write both forms and compare them."""
    texts = _texts(work, extra)
    counts: Counter[str] = Counter()
    with meter("texts", len(texts)) as shown:
        for text in texts:
            counts.update(runs(text))
            shown.advance()
    corpus = work / "runs.tsv"
    with corpus.open("w", encoding="utf-8") as out:
        out.writelines(f"{run}\t{count}\n" for run, count in sorted(counts.items()))
    sentencepiece.set_random_generator_seed(seed)
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        input_format="tsv",
        model_prefix=str(work / "ja"),
        vocab_size=size,
        model_type="unigram",
        character_coverage=_COVERAGE,
        required_chars=_everyday_kanji() if size >= _FULL_SIZE else "",
        add_dummy_prefix=False,
        normalization_rule_name="identity",
        max_sentence_length=4000,
        split_by_unicode_script=True,
        bos_id=-1,
        eos_id=-1,
        num_threads=2,
        minloglevel=2,
    )
    convert(work / "ja.model", work / "pieces.json")
    chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
    sample = chance.sample(sorted(counts), min(_RUNS_TO_VERIFY, len(counts)))
    verify(work / "ja.model", work / "pieces.json", sample)
    console.print(f"both forms agree on {len(sample):,} runs")


def _everyday_kanji() -> str:
    """The first level of JIS X 0208: technical text alone would miss many of them."""
    cells = (
        bytes((row, cell)) for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF)
    )
    return "".join(cell.decode("euc-jp", errors="ignore") for cell in cells)


def _texts(work: Path, extra: Sequence[Path]) -> list[str]:
    texts = [pair.ja for pair in read_pairs(work) if pair.kind != "passage"]
    for folder in extra:
        texts += [
            path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(folder.rglob("*.md"))
        ]
    return texts


def convert(model: Path, target: Path) -> None:
    """Write a sentencepiece model as JSON for the ``tokenizers`` package."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    vocabulary = [
        (processor.id_to_piece(number), processor.get_score(number))
        for number in range(processor.vocab_size())
    ]
    unknown = processor.unk_id()
    Tokenizer(Unigram(vocabulary, unk_id=unknown)).save(str(target), pretty=False)


def verify(model: Path, converted: Path, sample: Sequence[str]) -> None:
    """Compare the ids of both forms.

    Raises:
        Different: for the first run whose ids differ.
    """
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    tokenizer = Tokenizer.from_file(str(converted))
    for run in sample:
        theirs = list(processor.encode(run))
        ours = list(tokenizer.encode(run).ids)
        if ours != theirs:
            raise Different(f"{run}: {theirs} by sentencepiece, {ours} by tokenizers")
