"""Cards and documents: a card may name pages, and is none itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from boards_on_disk import Hands, ulid

from ubp.cli import main


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    hands = Hands(tmp_path)
    (tmp_path / "docs").mkdir()
    for name in ("design", "other", "third"):
        (tmp_path / f"docs/{name}.md").write_text(f"# {name.title()} page\n\nwalrus\n")
    hands.card(1, "Build", body="As [[Other page]] says.", docs=["docs/design.md"])
    hands.card(2, "Quiet", body="walrus")
    return hands


def ubp(hands: Hands, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json", "--root", str(hands.root)])
    assert ended.value.code == 0
    return json.loads(capsys.readouterr().out or "null")


def test_pages_a_card_names_are_linked_from_it_where_that_is_wanted(
    hands: Hands, capsys: pytest.CaptureFixture[str]
) -> None:
    (hands.root / "ubp.toml").write_text("[board]\nlink_docs = true\n")
    ubp(hands, capsys, "index", "--no-embed")

    graph = ubp(hands, capsys, "get-graph")

    titles = {node["id"]: node["title"] for node in graph["nodes"]}
    links = {(titles[e["source"]], titles[e["target"]]) for e in graph["edges"]}
    assert links == {("Build", "Design page"), ("Build", "Other page")}
    assert ulid(1) in titles
    assert ulid(2) not in titles
    page = ubp(hands, capsys, "get-page", "design.md")
    assert [link["title"] for link in page["backlinks"]] == ["Build"]


def test_a_card_is_no_page_and_is_not_linked_unless_that_is_wanted(
    hands: Hands, capsys: pytest.CaptureFixture[str]
) -> None:
    (hands.root / "ubp.toml").write_text("[board]\nlink_docs = true\n")
    ubp(hands, capsys, "index", "--no-embed")
    (hands.root / "ubp.toml").write_text("")
    ubp(hands, capsys, "index", "--no-embed")

    graph = ubp(hands, capsys, "get-graph")
    found = ubp(hands, capsys, "search", "walrus", "--fulltext")

    assert graph["edges"] == []
    assert {hit["filepath"] for hit in found["results"]} == {
        "design.md",
        "other.md",
        "third.md",
    }


def test_a_link_goes_with_its_card(
    hands: Hands, capsys: pytest.CaptureFixture[str]
) -> None:
    (hands.root / "ubp.toml").write_text("[board]\nlink_docs = true\n")
    ubp(hands, capsys, "index", "--no-embed")
    moved = ubp(hands, capsys, "board", "move", ulid(1), "doing")
    ubp(hands, capsys, "index", "--no-embed")
    nodes = ubp(hands, capsys, "get-graph")["nodes"]
    assert [n["filepath"] for n in nodes if n["id"] == ulid(1)] == [moved["path"]]

    hands.file(ulid(1)).unlink()
    ubp(hands, capsys, "index", "--no-embed")

    assert ubp(hands, capsys, "get-graph")["edges"] == []


def test_words_of_cards_are_found_with_and_without_an_index(
    hands: Hands, capsys: pytest.CaptureFixture[str]
) -> None:
    hands.card(3, "全文検索の設計", body="日本語の本文です。ＡＰＩ")
    for query, number in (("検索 api", 3), ("WALR", 2), (ulid(1)[-5:], 1)):
        found = ubp(hands, capsys, "board", "list", "--query", query)
        assert [item["cardId"] for item in found["items"]] == [ulid(number)]

    ubp(hands, capsys, "index", "--no-embed")
    hands.card(4, "Since then", body="検索 api")

    for query, numbers in (("検索 api", [3, 4]), ("walr", [2]), ("nowhere", [])):
        found = ubp(hands, capsys, "board", "list", "--query", query)
        assert [item["cardId"] for item in found["items"]] == [ulid(n) for n in numbers]
