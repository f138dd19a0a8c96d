"""Answers that could flood a model: they end somewhere, and say where they go on."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from boards_on_disk import Hands, ulid
from clients import UBP, serving
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError
from models import OFF
from services import Vault, answering
from vaults import vault, write_files

from ubp.amounts import (
    MOST_BYTES_FOUND,
    MOST_CHARACTERS,
    beginning,
    length,
    part_of_text,
)
from ubp.errors import InvalidArguments
from ubp.packs import enabled
from ubp.packs.board.relation_tools import tree_of

WORDS = "定期的な利用者の認証と鍵の更新について述べる。renewal of keys "


async def asked(client: Client, tool: str, **arguments: Any) -> tuple[Any, int]:
    """What the tool answers, and the bytes of its text."""
    answer = await client.call_tool(tool, arguments)
    text: str = answer.content[0].text  # type: ignore[union-attr]
    return json.loads(text), len(text.encode())


def fill(service: Vault, pages: dict[str, str]) -> None:
    for path, text in pages.items():
        service.write(path, text)
    service.settle()


@given(st.text(), st.integers(1, 9))
def test_the_parts_of_a_text_are_the_text(text: str, most: int) -> None:
    parts: list[str] = []
    cursor: Any = None
    while True:
        part, rest = part_of_text(text, cursor, most)
        parts.append(part)
        assert len(part) <= most
        if not isinstance(rest, str):
            break
        cursor = rest

    assert "".join(parts) == text


@given(st.text(st.sampled_from("a\né鍵😀")), st.integers(2, 9))
def test_a_part_of_japanese_has_half_as_many_characters(text: str, most: int) -> None:
    part, _ = part_of_text(text, None, most)

    assert length(part) <= most or len(part) == 1
    assert (length("a" * 6), length("鍵" * 6)) == (6, 12)


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.0", "٣", "9" * 40, "1 "])
def test_a_cursor_that_was_never_given_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArguments):
        beginning(cursor)


async def test_what_a_search_finds_is_told_in_six_thousand_bytes(
    tmp_path: Path,
) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    sections = "".join(f"\n## 鍵の更新 {n}\n\n{WORDS * 12}\n" for n in range(6))
    async with answering(project, packs) as service:
        fill(
            service,
            {f"認証/鍵の更新-{n:02}.md": f"# 鍵{n}\n{sections}" for n in range(30)},
        )
        async with service.client() as client:
            for tool in ("ubp_search", "ubp_fulltext_search"):
                found, size = await asked(client, tool, query="renewal keys")
                assert len(found["results"]) == 10
                assert size <= MOST_BYTES_FOUND
                assert all(each["uri"] for each in found["results"])
                more, _ = await asked(client, tool, query="renewal keys", limit=20)
                assert len(more["results"]) == 20

            best = (await asked(client, "ubp_search", query="renewal keys"))[0]
            assert "<mark>" in best["results"][0]["sections"][0]["content"]
            uri = best["results"][0]["uri"]
            read = await client.read_resource(uri)
            assert "鍵の更新" in read.contents[0].text  # type: ignore[union-attr]


async def test_where_paths_are_long_the_best_results_are_told(tmp_path: Path) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    folder = "設計資料/アプリケーション共通基盤/画面遷移と入力検証の取り決め"
    async with answering(project, packs) as service:
        pages = {
            f"{folder}/鍵の更新-{n:02}.md": f"# 鍵{n}\n\n{WORDS}" for n in range(30)
        }
        fill(service, pages)
        async with service.client() as client:
            for tool in ("ubp_search", "ubp_fulltext_search"):
                found, size = await asked(client, tool, query="renewal keys")
                assert 5 <= len(found["results"]) < 10
                assert found["total_found"] == 30
                assert size <= MOST_BYTES_FOUND
                more, _ = await asked(client, tool, query="renewal keys", limit=20)
                paths = [each["filepath"] for each in found["results"]]
                others = [each["filepath"] for each in more["results"]]
                assert len(others) == 20
                assert others[: len(paths)] == paths

            best = (await asked(client, "ubp_search", query="renewal keys"))[0]
    for result in best["results"][:3]:
        assert "<mark>" in result["sections"][0]["content"]


async def test_a_long_page_is_read_in_parts_that_are_the_whole(tmp_path: Path) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    text = "# Long\n\n" + "".join(
        f"## Part {n}\n\n{'word ' * 200}\n\n" for n in range(150)
    )
    async with answering(project, packs) as service:
        fill(service, {"long.md": text, "short.md": "# Short\n\n[l](long.md)\n"})
        async with service.client() as client:
            part, _ = await asked(client, "ubp_get_page", filepath="long.md")
            headings = [each["heading"] for each in part["sections"]]
            assert len(part["content"]) < MOST_CHARACTERS * 1.1
            assert part["backlinks"]
            while "next_cursor" in part:
                cursor = part["next_cursor"]
                part, _ = await asked(
                    client, "ubp_get_page", filepath="long.md", cursor=cursor
                )
                headings += [each["heading"] for each in part["sections"]]
            short, _ = await asked(client, "ubp_get_page", filepath="short.md")
            with pytest.raises(MCPError):
                await asked(client, "ubp_get_page", filepath="long.md", cursor="x")

    assert "next_cursor" not in short
    assert [each for each in headings if each and each.startswith("Part")] == [
        f"Part {n}" for n in range(150)
    ]


async def test_a_long_japanese_page_is_no_more_to_read_at_once(tmp_path: Path) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    text = "# 長い頁\n\n" + "".join(f"## 節{n}\n\n{'鍵' * 200}\n\n" for n in range(150))
    keys = 0
    more: dict[str, str] = {}
    async with answering(project, packs) as service:
        fill(service, {"長い頁.md": text})
        async with service.client() as client:
            while True:
                part, size = await asked(
                    client, "ubp_get_page", filepath="長い頁.md", **more
                )
                assert size < MOST_CHARACTERS * 2
                keys += part["content"].count("鍵")
                if "next_cursor" not in part:
                    break
                more = {"cursor": part["next_cursor"]}

    assert more
    assert keys == 200 * 150


async def test_a_section_too_long_for_one_part_comes_in_pieces(tmp_path: Path) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    lines = "".join(f"Line {n} of the log.\n" for n in range(9000))
    text = f"# Log\n\nAbove.\n\n## All\n\n{lines}\n## Empty\n\n## End\n\nBelow.\n"
    told: list[str] = []
    headings: list[str | None] = []
    async with answering(project, packs) as service:
        fill(service, {"log.md": text})
        async with service.client() as client:
            more: dict[str, str] = {}
            while True:
                part, _ = await asked(client, "ubp_get_page", filepath="log.md", **more)
                assert len(part["content"]) < MOST_CHARACTERS * 1.1
                told.append(part["content"])
                headings += [each["heading"] for each in part["sections"]]
                if "next_cursor" not in part:
                    break
                more = {"cursor": part["next_cursor"]}

    whole = "\n".join(told)
    assert [line for line in whole.splitlines() if line.startswith("Line ")] == (
        lines.splitlines()
    )
    assert whole.count("## All") == whole.count("## End") == 1
    assert headings.count("All") == len(told) - 1


async def test_of_very_many_links_some_are_told_and_the_graph_has_the_rest(
    tmp_path: Path,
) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    pages = {f"{n:03}.md": f"# P{n}\n\n[h](hub.md)\n" for n in range(250)}
    async with answering(project, packs) as service:
        fill(service, {"hub.md": "# Hub\n\n[one](000.md)\n", **pages})
        async with service.client() as client:
            hub, _ = await asked(client, "ubp_get_page", filepath="hub.md")
            one, _ = await asked(client, "ubp_get_page", filepath="000.md")
            graph, _ = await asked(client, "ubp_get_graph", center="hub.md", depth=1)

    assert (len(hub["backlinks"]), hub["more_links"]) == (200, 50)
    assert "more_links" not in one
    assert len(graph["nodes"]) == 251


async def test_of_a_thousand_pages_all_are_listed_and_of_more_the_rest_follows(
    tmp_path: Path,
) -> None:
    project = vault(tmp_path, {"ubp.toml": OFF})
    packs = enabled(["docs"], project.settings)
    pages = {
        f"{n:04}.md": f"# P{n:04}\n\n[n]({(n + 1) % 1200:04}.md)\n" for n in range(1200)
    }
    async with answering(project, packs) as service:
        fill(service, pages)
        async with service.client() as client:
            first, _ = await asked(client, "ubp_list_pages")
            assert (len(first["pages"]), first["total"]) == (1000, 1200)
            rest, _ = await asked(client, "ubp_list_pages", cursor=first["next_cursor"])
            assert "next_cursor" not in rest
            graph, _ = await asked(client, "ubp_get_graph")
            others, _ = await asked(
                client, "ubp_get_graph", cursor=graph["next_cursor"]
            )

    listed = [each["filepath"] for each in (*first["pages"], *rest["pages"])]
    assert listed == sorted(pages)
    nodes = [each["filepath"] for each in (*graph["nodes"], *others["nodes"])]
    assert sorted(nodes) == sorted(pages)
    edges = [
        (each["source"], each["target"]) for each in graph["edges"] + others["edges"]
    ]
    assert len(set(edges)) == len(edges) == len(pages)


@pytest.mark.slow
def test_of_very_many_tags_the_rest_follows(tmp_path: Path) -> None:
    tags = [f"tag-{n}" for n in range(1100)]
    notes = {
        f"docs/{n}.md": f"---\ntags: {json.dumps(tags[n : n + 20])}\n---\n# N\n"
        for n in range(0, len(tags), 20)
    }
    write_files(tmp_path, {"ubp.toml": f'packs = ["notes"]\n{OFF}', **notes})
    index = [sys.executable, "-m", "ubp", "index", "--quiet", "--root", str(tmp_path)]
    subprocess.run(index, check=True)
    with serving(tmp_path) as client:
        first = client.call("list_tags")
        rest = client.call("list_tags", cursor=first["next_cursor"])
        assert client.end() == 0

    assert "next_cursor" not in rest
    listed = [each["tag"] for each in (*first["tags"], *rest["tags"])]
    assert sorted(listed) == sorted(tags)


@pytest.mark.slow
def test_commands_show_all_of_it_at_once(tmp_path: Path) -> None:
    pages = {
        f"docs/{n:04}.md": f"# P{n}\n\n[n]({(n + 1) % 1100:04}.md)\n"
        for n in range(1100)
    }
    long = "# Long\n\n" + "A line of it.\n" * 9000
    write_files(tmp_path, {"ubp.toml": OFF, "docs/long.md": long, **pages})

    def told(*command: str) -> str:
        line = [*UBP, *command, "--root", str(tmp_path)]
        done = subprocess.run(line, check=True, capture_output=True, encoding="utf-8")
        return done.stdout

    told("index", "--quiet", "--no-embed")
    assert len(json.loads(told("list-pages", "--json"))["pages"]) == 1101
    assert "1101 pages, 1100 links" in told("get-graph")
    assert told("notes", "get", "docs/long.md").count("A line") == 9000
    page = json.loads(told("get-page", "long.md", "--json"))
    assert page["content"].count("A line") == 9000
    assert "next_cursor" not in page


@pytest.mark.slow
def test_a_long_card_and_a_long_journal_come_in_parts(tmp_path: Path) -> None:
    (tmp_path / "ubp.toml").write_text('packs = ["board"]\n', encoding="utf-8")
    with serving(tmp_path) as client:
        body = "A line of the card.\n" * 4000
        ident = client.call("kanban_new", title="Long", body=body)["cardId"]
        for number in range(8):
            note = f"{number} " + "x" * 9_000
            client.call("kanban_notes_append", cardId=ident, text=note)
        first = client.call("kanban_get", cardId=ident)
        rest = client.call("kanban_get", cardId=ident, cursor=first["next_cursor"])
        journal = {"cardId": ident, "all": True}
        some = client.call("kanban_notes_list", **journal)
        others = client.call("kanban_notes_list", **journal, cursor=some["next_cursor"])
        assert client.end() == 0

    assert len(first["markdown"]) <= MOST_CHARACTERS
    assert "next_cursor" not in rest
    assert (first["markdown"] + rest["markdown"]).count("A line") == 4000
    assert "next_cursor" not in others
    notes = [each["text"][0] for each in (*some["items"], *others["items"])]
    assert notes == list("76543210")


def test_a_wide_tree_shows_the_nearest_cards_and_how_many_more(tmp_path: Path) -> None:
    hands = Hands(tmp_path / "project")
    hands.card(1, "Top")
    for number in range(2, 402):
        hands.card(number, "Below", parent=ulid(1))
    hands.card(500, "Deeper", parent=ulid(2))

    tree = tree_of(hands.board().view.snapshot(), ulid(1), 3)

    assert len(tree.children) == 199
    assert tree.more == 201
    assert tree.children[0].more == 1
