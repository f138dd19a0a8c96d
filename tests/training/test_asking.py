"""Questions that parts of pages answer."""

import importlib
from typing import Any

import pytest

pytest.importorskip("training.sources", reason="the folder training is not here")

QUESTION = ("Files are deleted by hand.", "ファイルは手で削除します。")
NOTICE = ("Back to the index.", "索引に戻ります。")


def _part(kind: str, text: str, *asks: tuple[str, str]) -> Any:
    pairing = importlib.import_module("training.pairing")
    return pairing.Pair(text, f"{text}の訳", "manual", kind, tuple(asks))


def _asked(*parts: Any) -> dict[str, list[str]]:
    asking = importlib.import_module("training.asking")
    found = asking.questions_of(parts)
    assert all(each.lesson.kind == "question" for each in found.values())
    return {question: each.answers for question, each in found.items()}


def test_a_question_has_every_part_that_answers_it() -> None:
    passage = _part("passage", "long", QUESTION)
    section = _part("section", "short", QUESTION)

    assert _asked(passage, section) == {QUESTION[0]: ["long", "short"]}


def test_what_several_parts_begin_with_is_no_question() -> None:
    parts = [_part("section", f"part {n}", NOTICE) for n in range(3)]
    parts.append(_part("section", "other", NOTICE, QUESTION))

    assert _asked(*parts) == {QUESTION[0]: ["other"]}
