"""Training from a few hundred pairs, where the packages for it are installed."""

import importlib
import shutil
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
    _other_runs_and_other_pieces_are_refused(tmp_path)


def _other_runs_and_other_pieces_are_refused(work: Path) -> None:
    learning = importlib.import_module("training.learning")
    exporting = importlib.import_module("training.exporting")
    refused = importlib.import_module("training.refusing").Refused
    before = japanese.pieces_file(work).read_bytes()

    for how in ({"seed": 1}, {"start": _other_pieces(work)}):
        with pytest.raises(refused):
            learning.learn(work, work / "model", learning.Settings(length=32, **how))

    assert japanese.pieces_file(work).read_bytes() == before
    exporting.export(work, work / "exported")
    japanese.pieces_file(work).write_bytes(before[:-1])
    with pytest.raises(refused):
        exporting.export(work, work / "exported")


def _other_pieces(work: Path) -> Path:
    other = work / "other"
    other.mkdir()
    shutil.copyfile(work / "learnt.safetensors", other / "learnt.safetensors")
    pieces = japanese.pieces_file(work).read_bytes()
    japanese.pieces_file(other).write_bytes(pieces[:-1])
    return other
