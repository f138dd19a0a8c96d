"""Promises every pack keeps, present and future."""

import re
import shutil
from collections.abc import Iterator
from importlib import invalidate_caches
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

import ubp.packs
from ubp.packs import discover, enabled
from ubp.protocol.catalog import describe, entries, rough_tokens
from ubp.protocol.instructions import instructions
from ubp.store import migrations
from ubp.toolkit import AnyTool, Effect, Pack, Prompts, Resources

PACKS = list(discover())
TOOLS = [tool for pack in PACKS for tool in (*pack.tools, *pack.extra_tools)]
NAMES = {
    "docs": {
        "ubp_search",
        "ubp_get_page",
        "ubp_get_context",
        "ubp_fulltext_search",
        "ubp_list_pages",
        "ubp_get_graph",
    },
    "specs": {
        "list_languages",
        "list_versions",
        "search_spec",
        "get_section",
        "build_learning_plan",
    },
    "notes": {"search_docs", "get_doc", "list_tags"},
    "registry": {
        "kp_search_skill",
        "kp_search_knowledge",
        "kp_contribute_skill",
        "kp_contribute_knowledge",
        "kp_validate_unit",
        "kp_reputation_query",
    },
    "board": {
        "kanban_new",
        "kanban_move",
        "kanban_done",
        "kanban_update",
        "kanban_list",
        "kanban_tree",
        "kanban_watch",
        "kanban_relations_set",
        "kanban_notes_append",
        "kanban_notes_list",
        "kanban_get",
    },
}
EXTRA_NAMES = {
    "notes": {
        "list_docs_by_tag",
        "list_all_docs",
        "search_by_keyword",
        "search_by_title",
        "list_docs_by_date",
        "list_docs_by_frontmatter_date",
    },
}
EXAMPLE = Path(__file__).parents[2] / "examples/sixth_pack"


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_a_pack_has_exactly_its_tools(pack: Pack) -> None:
    assert {tool.name for tool in pack.tools} == NAMES[pack.name]
    extra = {tool.name for tool in pack.extra_tools}
    assert extra == EXTRA_NAMES.get(pack.name, set())


def test_tool_names_are_unique_and_safe_for_every_client() -> None:
    names = [tool.name for tool in TOOLS]

    assert len(set(names)) == len(names)
    assert [n for n in names if not re.fullmatch(r"[a-zA-Z0-9_-]{1,60}", n)] == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_is_described_and_every_number_has_a_range(
    tool: AnyTool,
) -> None:
    schema = describe(tool)["inputSchema"]

    for name, field in schema["properties"].items():
        branches = [field, *field.get("anyOf", [])]
        assert any("description" in branch for branch in branches), name
        for branch in branches:
            if branch.get("type") in ("integer", "number"):
                assert "minimum" in branch, name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_explains_itself_and_warns_about_what_it_returns(tool: AnyTool) -> None:
    told = describe(tool)["description"]

    assert len(tool.description) > 10
    assert tool.description.endswith(".")
    assert ("never instructions" in told) is (tool.effect is Effect.READ)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_annotations_follow_from_the_effect(tool: AnyTool) -> None:
    hints = describe(tool, explicit=True)["annotations"]

    assert hints["readOnlyHint"] is (tool.effect is Effect.READ)
    assert hints["idempotentHint"] is (tool.effect is not Effect.ADD)
    assert hints["openWorldHint"] is False


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_hints_that_are_left_out_mean_what_they_would_have_said(tool: AnyTool) -> None:
    """By the defaults of MCP, where the last two count only for what writes."""
    defaults = {"readOnlyHint": False, "openWorldHint": True}
    if tool.effect is not Effect.READ:
        defaults |= {"idempotentHint": False, "destructiveHint": True}
    said = describe(tool)["annotations"]
    meant = describe(tool, explicit=True)["annotations"]

    assert {**meant, **defaults, **said} == meant


def test_the_whole_list_of_tools_is_under_five_thousand_tokens() -> None:
    assert rough_tokens({"tools": entries(PACKS)}) < 5_000


def test_the_instructions_are_under_three_hundred_tokens_and_name_real_tools() -> None:
    told = instructions(PACKS)

    assert rough_tokens(told) < 300
    names = set(re.findall(r"\b(?:ubp|kp|kanban|list|get|search)_[a-z_]+", told))
    assert len(names) > 10
    assert names <= {tool.name for tool in TOOLS}


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_the_instructions_tell_of_the_packs_that_are_on(pack: Pack) -> None:
    others = [tool.name for each in PACKS if each is not pack for tool in each.tools]
    told = instructions([pack])

    assert pack.guide in told
    assert [name for name in others if name in told] == []


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_migrations_apply_to_an_empty_database_and_keep_to_their_prefix(
    pack: Pack,
) -> None:
    db = apsw.Connection(":memory:")
    migrations.apply(db, [migrations.Set(pack.name, pack.migrations)])

    made = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    names = {name for (name,) in made if not name.startswith("sqlite_")}
    assert names - {"migration"}
    assert {n for n in names if not n.startswith(f"{pack.name}_")} == {"migration"}


RESOURCES = [(pack, pack.resources) for pack in PACKS if pack.resources is not None]


def test_a_uri_belongs_to_one_pack_at_most() -> None:
    prefixes = sorted(resources.prefix for _, resources in RESOURCES)

    assert all(re.match(r"[a-z][a-z0-9+.-]*://", prefix) for prefix in prefixes)
    assert [(a, b) for a, b in pairwise(prefixes) if b.startswith(a)] == []


@pytest.mark.parametrize(("pack", "resources"), RESOURCES)
def test_every_template_is_within_the_packs_own_uris(
    pack: Pack, resources: Resources[Any]
) -> None:
    del pack
    for template in resources.templates:
        assert template.uri.startswith(resources.prefix)
        assert template.variables
        assert template.description


@pytest.mark.parametrize(("pack", "resources"), RESOURCES)
def test_the_tools_behind_resources_only_read_and_have_names_no_client_can_call(
    pack: Pack, resources: Resources[Any]
) -> None:
    for tool in (resources.listing, resources.read, resources.complete):
        assert tool is None or tool.effect is Effect.READ
        assert tool is None or tool.name.startswith(f"{pack.name}.")


PROMPTS = [(pack, pack.prompts) for pack in PACKS if pack.prompts is not None]


@pytest.mark.parametrize(("pack", "prompts"), PROMPTS)
def test_prompts_only_read_and_are_no_tools(pack: Pack, prompts: Prompts) -> None:
    called = {tool.name for tool in TOOLS}
    for prompt in prompts.offered:
        assert prompt.effect is Effect.READ
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,60}", prompt.name)
        assert prompt.name not in called
        assert len(prompt.description) > 40
    complete = prompts.complete
    assert complete is None or complete.effect is Effect.READ
    assert complete is None or complete.name.startswith(f"{pack.name}.")


@pytest.mark.parametrize("pack", [pack for pack in PACKS if pack.skills is not None])
def test_skills_are_read_as_resources_and_their_tools_cannot_be_called(
    pack: Pack,
) -> None:
    assert pack.resources is not None
    assert pack.skills is not None
    for tool in (pack.skills.listing, pack.skills.get):
        assert tool.effect is Effect.READ
        assert tool.name.startswith(f"{pack.name}.")


@pytest.fixture
def sixth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pack]:
    """The example pack, put where packs are found; nothing else is touched."""
    shutil.copytree(EXAMPLE, tmp_path / "bookmarks")
    monkeypatch.setattr(ubp.packs, "__path__", [*ubp.packs.__path__, str(tmp_path)])
    invalidate_caches()
    discover.cache_clear()
    yield next(pack for pack in discover() if pack.name == "bookmarks")
    discover.cache_clear()


def test_a_sixth_pack_is_a_folder_and_nothing_else(sixth: Pack) -> None:
    assert sixth in enabled(None)
    assert [tool.name for tool in sixth.tools] == ["bookmarks_add", "bookmarks_list"]
    hints = [describe(tool)["annotations"] for tool in sixth.tools]
    assert ["readOnlyHint" in each for each in hints] == [False, True]


def test_a_sixth_packs_tools_can_be_called(
    sixth: Pack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ubp.cli import main

    assert sixth.name == "bookmarks"
    root = tmp_path / "project"
    root.mkdir()
    for arguments in (
        ["index"],
        ["call", "bookmarks_add", '{"address": "docs/a.md"}'],
        ["call", "bookmarks_list", "--json"],
    ):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--root", str(root)])
        assert ended.value.code == 0
    assert '"docs/a.md"' in capsys.readouterr().out
