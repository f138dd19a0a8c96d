"""Search measured from end to end: files to numbers, and what is refused before."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from models import without_japanese
from vaults import write_files

from bench.quality.__main__ import main
from bench.quality.projects import _copied
from bench.quality.sets import read_sets

PADDING = "It takes patience, a good light and some room on the table. " * 12
"""Sections that are much shorter than this become part of the one before."""

PAGES = {
    "corpus/bread.md": (
        f"# Bread\n\n## Kneading\n\nFold the dough until it is smooth. {PADDING}\n\n"
        f"## Baking\n\nAn hour in a hot oven gives a dark crust. {PADDING}\n"
    ),
    "corpus/bikes.md": (
        f"# Bicycles\n\nAbout wheels and chains.\n\n"
        f"## Brakes\n\nReplace worn pads before they squeal. {PADDING}\n\n"
        f"## Gears\n\nThe derailleur moves the chain over sprockets. {PADDING}\n"
    ),
    "corpus/tea.md": "# Tea\n\n## Steeping\n\nGreen leaves want cooler water.\n",
    "corpus/ja/bread.md": "# パン\n\n## 焼き方\n\n熱い窯で一時間焼く。\n",
}
QUERIES = (
    {
        "id": "1",
        "query": "derailleur sprockets",
        "relevant": [{"filepath": "./bikes.md", "heading": "Gears"}],
        "lang": "en",
    },
    {
        "id": "2",
        "query": "How long does a loaf stay in the oven?",
        "relevant": [{"filepath": "bread.md", "heading": "Baking"}],
        "lang": "en",
        "kind": "question",
    },
    {
        "id": "3",
        "query": "窯で焼く",
        "relevant": [{"filepath": "ja/bread.md"}],
        "lang": "ja",
    },
)
JAPANESE = tuple(query for query in QUERIES if query["lang"] == "ja")


def write_set(
    folder: Path,
    queries: tuple[Mapping[str, Any], ...] = QUERIES,
    pages: Mapping[str, str] = PAGES,
    corpus: str = "corpus",
) -> None:
    about = {"corpus": corpus, "lang": "en", "unit": "section", "note": "tiny"}
    lines = [json.dumps(query, ensure_ascii=False) for query in queries]
    write_files(
        folder,
        {
            **pages,
            "META.json": json.dumps(about),
            "queries.jsonl": "".join(f"{line}\n" for line in lines),
        },
    )


@pytest.fixture
def relevance(tmp_path: Path) -> Path:
    """A set, and another one of the same corpus that asks in Japanese only."""
    folder = tmp_path / "relevance"
    write_set(folder / "tiny")
    write_set(folder / "tiny_ja", JAPANESE, pages={}, corpus="../tiny/corpus")
    return folder


@pytest.mark.slow
def test_sets_are_measured_from_files_to_numbers(
    relevance: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A model that knows one of the two languages of the set.
    without_japanese(monkeypatch, "left out")
    work, out, records = tmp_path / "work", tmp_path / "out.json", tmp_path / "records"
    baselines = tmp_path / "baselines.json"
    systems = {"bm25": {"ndcg10": 0.5, "hit1": 0.1}, "other": {"ndcg10": 2.0}}
    baselines.write_text(json.dumps({"how": "", "sets": {"tiny": {"doc": systems}}}))

    code = main(
        [
            *("--relevance", str(relevance)),
            *("--work", str(work)),
            *("--json", str(out)),
            *("--records", str(records)),
            *("--baselines", str(baselines)),
        ]
    )

    assert code == 0
    found = json.loads(out.read_text())
    assert list(found) == ["tiny", "tiny_ja"]
    for modes in found.values():
        assert list(modes) == ["keyword", "vector", "hybrid"]
        for levels in modes.values():
            for scores in levels.values():
                assert list(scores) == ["ndcg", "recall", "mrr"]
                assert all(0 <= value <= 1 for value in scores.values())
    perfect = {"ndcg": 1.0, "recall": 1.0, "mrr": 1.0}
    assert found["tiny"]["hybrid"] == {"document": perfect, "section": perfect}
    # The model does not know the Japanese one of the three.
    assert found["tiny"]["vector"]["document"]["recall"] == 0.6667
    assert found["tiny"]["vector"]["section"]["recall"] == 1.0
    nothing = {"ndcg": 0.0, "recall": 0.0, "mrr": 0.0}
    assert found["tiny_ja"]["vector"] == {"document": nothing}
    assert found["tiny_ja"]["keyword"] == {"document": perfect}

    printed = capsys.readouterr().out
    assert "vector –/–" in printed
    assert "2 of 3" in printed
    assert "▼ 1.000 below" in printed

    [record] = map(json.loads, (records / "runs.jsonl").read_text().splitlines())
    assert record["model"][0].startswith("all-MiniLM-L6-v2@")
    assert {"date", "version", "machine"} <= record.keys()
    tiny = record["sets"]["tiny"]
    assert (tiny["queries"], tiny["section_queries"], tiny["with_vector"]) == (3, 2, 2)
    assert tiny["unnamed"] == 0
    assert tiny["modes"]["hybrid"]["document"]["hit1"] == 1.0
    # Two sets of one corpus are one index.
    assert [each.name.partition("-")[0] for each in work.iterdir()] == ["tiny"]


@pytest.mark.slow
def test_a_kept_index_is_used_again_and_follows_the_corpus(
    relevance: Path, tmp_path: Path
) -> None:
    arguments = ["--relevance", str(relevance), "--sets", "tiny"]
    arguments += ["--modes", "keyword", "--work", str(tmp_path / "work")]
    out = tmp_path / "out.json"
    assert main(arguments) == 0
    [database] = (tmp_path / "work").glob("*/.ubp/index.db")
    made = database.stat().st_ino

    (relevance / "tiny/corpus/tea.md").write_text("# Tea\n\nderailleur sprockets\n")
    assert main([*arguments, "--json", str(out)]) == 0

    assert database.stat().st_ino == made
    found = json.loads(out.read_text())["tiny"]
    assert list(found) == ["keyword"]
    assert (database.parents[1] / "docs/tea.md").read_text().endswith("sprockets\n")


@pytest.mark.slow
def test_answers_the_index_cannot_give_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below the third level headings begin no section."""
    query = QUERIES[0] | {"relevant": [{"filepath": "bikes.md", "heading": "Spokes"}]}
    write_set(tmp_path / "sets/tiny", (query, QUERIES[1]))

    code = main(["--relevance", str(tmp_path / "sets"), "--modes", "keyword"])

    assert code == 0
    assert "1 of 2 queries want headings" in capsys.readouterr().out


def test_a_copy_is_as_the_corpus_and_what_is_unchanged_is_not_touched(
    relevance: Path, tmp_path: Path
) -> None:
    [tiny] = read_sets(relevance, ["tiny"])
    docs = _copied(tiny.corpus, tmp_path / "project").docs_dir
    before = (docs / "bread.md").stat()
    (tiny.corpus / "tea.md").unlink()
    (tiny.corpus / "bikes.md").write_text("# Other\n")

    _copied(tiny.corpus, tmp_path / "project")

    assert (docs / "bread.md").stat() == before
    assert not (docs / "tea.md").exists()
    assert (docs / "bikes.md").read_text() == "# Other\n"


def test_sections_count_only_where_every_answer_names_one(relevance: Path) -> None:
    [tiny] = read_sets(relevance, ["tiny"])

    named = [query.sections for query in tiny.queries]

    assert named == [{("bikes.md", "Gears")}, {("bread.md", "Baking")}, set()]


QUERY = QUERIES[0]
BROKEN = {
    "META.json missing": ("META.json", None),
    "META.json not JSON": ("META.json", "{"),
    "META.json not UTF-8": ("META.json", b'{"corpus": "\xff"}'),
    "no corpus named": ("META.json", "{}"),
    "corpus missing": ("META.json", '{"corpus": "elsewhere"}'),
    "queries missing": ("queries.jsonl", None),
    "queries empty": ("queries.jsonl", "\n"),
    "query not JSON": ("queries.jsonl", "query\n"),
    "query without text": ("queries.jsonl", json.dumps(QUERY | {"query": " "})),
    "query without answer": ("queries.jsonl", json.dumps(QUERY | {"relevant": []})),
    "query twice": ("queries.jsonl", f"{json.dumps(QUERY)}\n{json.dumps(QUERY)}"),
    "answer not in the corpus": (
        "queries.jsonl",
        json.dumps(QUERY | {"relevant": [{"filepath": "gone.md"}]}),
    ),
}


@pytest.mark.parametrize(("file", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_set_is_refused_before_anything_is_indexed(
    relevance: Path, tmp_path: Path, file: str, text: str | bytes | None
) -> None:
    place = relevance / "tiny" / file
    if text is None:
        place.unlink()
    else:
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    work = tmp_path / "work"

    code = main(["--relevance", str(relevance), "--work", str(work)])

    assert code == 2
    assert not work.exists()


def test_a_message_says_where_a_set_is_broken(
    relevance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (relevance / "tiny/queries.jsonl").open("a") as file:
        file.write('{"id": "4"}\n')

    main(["--relevance", str(relevance)])

    assert "tiny/queries.jsonl:4" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--relevance", "nowhere"],
        ["--relevance", ".", "--sets", "no_such_set"],
    ],
)
def test_what_is_not_there_is_refused(
    arguments: list[str], relevance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(relevance)

    assert main(arguments) == 2


@pytest.mark.parametrize(
    "arguments", [["--modes", "graph"], ["--jobs", "0"], ["--sets", ","]]
)
def test_wrong_usage_is_refused(relevance: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--relevance", str(relevance), *arguments])

    assert ended.value.code == 2


def test_broken_baselines_are_refused(relevance: Path, tmp_path: Path) -> None:
    file = tmp_path / "baselines.json"
    file.write_text("[]")

    assert main(["--relevance", str(relevance), "--baselines", str(file)]) == 2
