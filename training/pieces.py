"""Pieces: the Japanese vocabulary, learnt from the Japanese runs of the pairs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sentencepiece

from training.exclusion import Measured
from training.exporting import PIECES
from training.pairing import PARTS, read_pairs
from training.progress import meter
from training.tokens import runs

__all__ = ("make_pieces",)

_COVERAGE = 0.9999
_FULL_SIZE = 8000
"""Pieces from which there is room for every everyday kanji."""


def make_pieces(work: Path, *, size: int, extra: Sequence[Path], seed: int) -> None:
    """Learn the pieces."""
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
        model_prefix=str((work / PIECES).with_suffix("")),
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


def _everyday_kanji() -> str:
    """The first level of JIS X 0208: technical text alone would miss many of them."""
    cells = (
        bytes((row, cell)) for row in range(0xB0, 0xD0) for cell in range(0xA1, 0xFF)
    )
    return "".join(cell.decode("euc-jp", errors="ignore") for cell in cells)


def _texts(work: Path, extra: Sequence[Path]) -> list[str]:
    texts = [pair.ja for pair in read_pairs(work) if pair.kind not in PARTS]
    for folder in extra:
        Measured(()).check_folder(folder)
        texts += [
            path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(folder.rglob("*.md"))
        ]
    return texts
