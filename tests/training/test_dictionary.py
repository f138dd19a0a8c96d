"""The dictionary, counted from pairs."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from ubp.dictionary import lookup

pytest.importorskip("training.sources", reason="the folder training is not here")

THINGS = {
    "server": "サーバー",
    "password": "パスワード",
    "session": "セッション",
    "history": "履歴",
    "archive": "書庫",
}
DOINGS = {"delete": "削除する", "write": "書く", "check": "調べる"}


def _terms() -> Any:
    return importlib.import_module("training.terms")


def _made(work: Path, pairs: list[tuple[str, str, str]]) -> Path:
    lines = [
        json.dumps({"en": en, "ja": ja, "source": "manual", "kind": kind})
        for kind, en, ja in pairs
    ]
    (work / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    dictionary = importlib.import_module("training.dictionary")
    dictionary.make_dictionary(work, work / "out")
    return work / "out"


@pytest.mark.parametrize(
    ("forms", "other"),
    [
        (["component", "components"], "compound"),
        (["render", "renders", "rendered", "rendering"], "rend"),
        (["change", "changes", "changed", "changing"], "chance"),
        (["stop", "stops", "stopped", "stopping"], "step"),
        (["property", "properties"], "proper"),
        (["class", "classes"], "clash"),
        (["status"], "state"),
        (["css"], "cs"),
        (["use"], "us"),
    ],
)
def test_forms_of_one_word_have_one_stem(forms: list[str], other: str) -> None:
    stem = _terms().stem

    assert len({stem(form) for form in forms}) == 1
    assert stem(other) != stem(forms[0])


def test_terms_are_told_by_their_script() -> None:
    found = list(_terms().japanese_terms("古いサーバーのログを書き換える。ﾃｽﾄ済み"))

    assert found == ["古い", "サーバ", "ログ", "書き", "換え", "テスト", "済み"]


def test_a_rare_compound_is_cut_at_words_that_are_known() -> None:
    counts = {"検索": 100, "精度": 50, "日本語": 70, "日本": 80, "検索精度": 2}
    compounds = _terms().Compounds(counts)

    assert compounds.parts("検索精度") == ["検索", "精度"]
    assert compounds.parts("日本語検索") == ["日本語", "検索"]
    assert compounds.parts("日本語") == ["日本語"]
    assert compounds.parts("魑魅魍魎") == ["魑魅魍魎"]


def test_what_translates_what_is_told_by_what_comes_together(tmp_path: Path) -> None:
    pairs = [
        ("text", f"How to {doing} the {thing}s.", f"{other}を{done}方法")
        for doing, done in DOINGS.items()
        for thing, other in THINGS.items()
        for _ in range(3)
    ]

    folder = _made(tmp_path, pairs)

    assert lookup.fault(folder) is None
    assert lookup.translations("servers", folder) == ["サーバ"]
    assert lookup.translations("サーバ", folder) == ["servers"]
    assert lookup.translations("history", folder) == []  # never seen in that form
    assert lookup.translations("write", folder) == ["書く"]
    assert lookup.translations("削除", folder) == ["delete"]


def test_every_form_of_a_word_has_its_translations(tmp_path: Path) -> None:
    pairs = [
        ("message", f"{verb} {thing}", f"{other}を{done}")
        for verb, done in (("Writing", "書く"), ("Wrote", "書い"), ("Writes", "書き"))
        for thing, other in THINGS.items()
    ]

    folder = _made(tmp_path, pairs)

    assert set(lookup.translations("writes", folder)) == {"書く", "書い", "書き"}
    assert set(lookup.translations("書い", folder)) >= {"writes", "writing"}


def test_sections_are_not_counted_because_everything_comes_together_there(
    tmp_path: Path,
) -> None:
    pairs = [("text", "a server", "サーバー")] * 5
    pairs += [("section", "a dragon", "竜だよ")] * 5
    pairs += [("text", "a dragon " * 40, "竜だよ" * 40)] * 5

    folder = _made(tmp_path, pairs)

    assert lookup.translations("server", folder) == ["サーバ"]
    assert lookup.translations("dragon", folder) == []
