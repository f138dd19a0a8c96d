"""Further pieces for common words, where the packages for training are installed."""

import importlib
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor

from ubp.embedding import japanese

pytest.importorskip("jax", reason="training/requirements.txt is not installed")
pytest.importorskip("optax", reason="training/requirements.txt is not installed")

EDICT = """\
貸出 [かしだし] /(n) lending/(P)/EntL1/
画像 [がぞう] /(n) picture/(P)/EntL2/
稀語 [きご] /(n) rare word/EntL3/
返す [かえす] /(v5s) to return/(P)/EntL4/
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("default")  # of packages that are not ours
def test_common_words_that_were_cut_become_pieces_and_nothing_else_changes(
    tmp_path: Path,
) -> None:
    selfcheck = importlib.import_module("training.selfcheck")
    widening = importlib.import_module("training.widening")
    selfcheck.check(tmp_path)
    (tmp_path / "packages/edict/usr/share/edict").mkdir(parents=True)
    dictionary = tmp_path / "packages/edict/usr/share/edict/edict"
    dictionary.write_text(EDICT, encoding="euc-jp")
    before = _pieces(tmp_path)
    wide = tmp_path / "wide"

    widening.widen(
        tmp_path,
        start=tmp_path,
        target=wide,
        model=tmp_path / "model",
        size=len(before) + 5,
    )

    after = _pieces(wide)
    assert list(after)[: len(before)] == list(before)
    assert [after[piece] for piece in before] == pytest.approx([*before.values()])
    # Those in the dictionary that are common, of kanji alone, and not a piece yet.
    assert after.keys() - before.keys() == {"貸出", "画像"} - before.keys()
    known, rows = japanese.rows(tmp_path), japanese.rows(wide)
    assert rows.shape == (len(after), known.shape[1])
    assert abs(rows[: len(known)] - known).max() < 0.01
    assert abs(rows[len(known) :]).max() > 0


def _pieces(folder: Path) -> dict[str, float]:
    pieces = SentencePieceProcessor(model_file=str(japanese.pieces_file(folder)))
    return {
        pieces.id_to_piece(number): pieces.get_score(number)
        for number in range(pieces.vocab_size())
    }
