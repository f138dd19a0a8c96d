"""A minute's proof: train on a few hundred pairs, see the loss fall, load the rows.

Needs neither the network nor the real weights: the pairs are made up from a small
grammar and the model's layers are random, which is enough to show that data, pieces,
teacher, training, checkpoint and the written files fit together. Given a model folder
it uses that model.

Run it with ``python -m training.selfcheck [MODEL]``.
"""

import json
import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from training.adapter import UP, linears
from training.exporting import PIECES, read_learnt
from training.learning import Settings, learn
from training.minilm import JA, ROWS, WIDTH, embed, load_weights
from training.pairing import PAIRS, read_pairs
from training.pieces import make_pieces
from training.progress import console
from training.tokens import Encoder

__all__ = ("Failed", "check")

_STEPS = 24
_PIECES = 90
_INNER = 1536
_POSITIONS = 512
_LAYERS = 6

_WHO = {"The user": "ユーザー", "The server": "サーバー", "The page": "ページ"}
_WHO |= {"The program": "プログラム", "The file": "ファイル", "The list": "一覧"}
_DOES = {"opens": "を開きます", "closes": "を閉じます", "changes": "を変更します"}
_DOES |= {"deletes": "を削除します", "shows": "を表示します", "finds": "を見つけます"}
_WHAT = {"a window": "ウィンドウ", "a folder": "フォルダー", "a message": "メッセージ"}
_WHAT |= {"a picture": "画像", "a setting": "設定", "a connection": "接続"}
_WHAT |= {"a table": "表", "a password": "パスワード", "a network": "ネットワーク"}


class Failed(Exception):
    """Training did not do what it should."""


def check(work: Path, model: Path | None = None) -> dict[str, float]:
    """Train in a folder; the loss before and after.

    Raises:
        Failed: if the loss did not fall or the rows are not as they should be.
    """
    if model is None:
        model = _random_model(work / "model")
    _write_pairs(work)
    make_pieces(work, size=_PIECES, extra=(), seed=0)
    losses = {}
    # First the ridge start alone, then on from its checkpoint.
    for name, how in (("before", {"minutes": 0.0}), ("after", {"steps": _STEPS})):
        learn(work, model, Settings(length=32, **how))
        losses[name] = _loss(work, model)
    if not losses["after"] < losses["before"]:
        raise Failed(f"the loss did not fall: {losses}")
    _check_files(work)
    return losses


def _loss(work: Path, model: Path) -> float:
    """How far all pairs are from their targets: the same measure before and after."""
    pairs = list(read_pairs(work))
    sides = (
        (None, Encoder(model, None), [pair.en for pair in pairs]),
        (read_learnt(work), Encoder(model, work / PIECES), [pair.ja for pair in pairs]),
    )
    weights = load_weights(model)
    english, japanese = (
        embed(weights, learnt, [encoder.encode(text, 64) for text in texts])
        for learnt, encoder, texts in sides
    )
    return float(2 * (1 - (english * japanese).sum(1)).mean())


def _check_files(work: Path) -> None:
    learnt = read_learnt(work)
    pieces = SentencePieceProcessor(model_file=str(work / PIECES))
    if learnt[JA].shape != (pieces.vocab_size(), WIDTH):
        raise Failed(f"rows are {learnt[JA].shape}")
    for name, values in learnt.items():
        if not np.isfinite(values).all():
            raise Failed(f"{name} holds what is not a number")
    if not any(learnt[name + UP].any() for name in linears()):
        raise Failed("the adapter has learnt nothing")


def _write_pairs(work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    with (work / PAIRS).open("w", encoding="utf-8") as out:
        for who, does in product(_WHO, _DOES):
            asks = [_sentence(who, does, what) for what in _WHAT]
            english, japanese = (" ".join(each) for each in zip(*asks[:3], strict=True))
            pairs = [
                {"en": ours, "ja": theirs, "kind": "text"} for ours, theirs in asks
            ]
            pairs.append(
                {"en": english, "ja": japanese, "kind": "section", "asks": asks[:3]}
            )
            for pair in pairs:
                fields = {**pair, "source": "selfcheck"}
                out.write(json.dumps(fields, ensure_ascii=False) + "\n")


def _sentence(who: str, does: str, what: str) -> tuple[str, str]:
    return f"{who} {does} {what}.", f"{_WHO[who]}は{_WHAT[what]}{_DOES[does]}。"


def _random_model(folder: Path) -> Path:
    """A model of the right shape whose layers are random."""
    folder.mkdir(parents=True, exist_ok=True)
    words = sorted({word.lower() for text in _texts() for word in text.split()})
    special = ["[PAD]", *(f"[unused{i}]" for i in range(99)), "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: place for place, word in enumerate([*special, ".", *words])}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - a token of text
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(_random_weights(), folder / "model.safetensors")
    return folder


def _texts() -> list[str]:
    return [*_WHO, *_DOES, *_WHAT]


def _random_weights() -> dict[str, np.ndarray]:
    chance = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return (0.05 * chance.standard_normal(shape)).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": normal(ROWS, WIDTH),
        "embeddings.position_embeddings.weight": normal(_POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": normal(2, WIDTH),
    }
    linear = {}
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear[f"{name}attention.{part}"] = (WIDTH, WIDTH)
        linear[name + "intermediate.dense"] = (_INNER, WIDTH)
        linear[name + "output.dense"] = (WIDTH, _INNER)
    for name, shape in linear.items():
        weights[name + ".weight"] = normal(*shape)
        weights[name + ".bias"] = np.zeros(shape[0], np.float32)
    norms = ["embeddings.LayerNorm"]
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}."
        norms += [name + "attention.output.LayerNorm", name + "output.LayerNorm"]
    for name in norms:
        weights[name + ".weight"] = np.ones(WIDTH, np.float32)
        weights[name + ".bias"] = np.zeros(WIDTH, np.float32)
    return weights


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
        console.print(check(Path(folder), given))
