"""Training from a few hundred pairs, where the packages for it are installed."""

import importlib
from pathlib import Path

import pytest

from ubp.embedding import japanese
from ubp.embedding.tokens import Bilingual, WordPieces

pytest.importorskip("jax", reason="training/requirements.txt is not installed")
pytest.importorskip("optax", reason="training/requirements.txt is not installed")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("default")  # of packages that are not ours
def test_the_loss_falls_and_what_was_learnt_can_be_read(tmp_path: Path) -> None:
    selfcheck = importlib.import_module("training.selfcheck")

    losses = selfcheck.check(tmp_path)

    assert losses["after"] < losses["before"]
    words = WordPieces(tmp_path / "model" / "tokenizer.json")
    both = Bilingual(words, japanese.pieces_file(tmp_path))
    assert max(both.ids("ユーザーは表を開きます")) < both.first + len(
        japanese.rows(tmp_path)
    )
    assert all(
        each.up.shape[1] == each.down.shape[0]
        for each in japanese.corrections(tmp_path)
    )
