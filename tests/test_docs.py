"""What must be documented, and that the documents are true."""

import re
import tomllib
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any, cast, get_type_hints

import click
import msgspec
import pytest
from msgspec import Struct

import ubp.actors.supervisor  # noqa: F401 - defines an error
from ubp.cli import COMMANDS, cli
from ubp.cli.reference import commands
from ubp.cli.tools import reference
from ubp.config import Settings
from ubp.errors import UbpError
from ubp.packs import discover

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_tool_reference_is_up_to_date() -> None:
    assert read("docs/tools.md") == reference(discover()), "run `make docs`"


def codes_of(error: type[UbpError]) -> Iterator[str]:
    if "code" in vars(error):
        yield error.code
    for child in error.__subclasses__():
        if child.__module__.startswith("ubp."):
            yield from codes_of(child)


def test_every_error_code_has_exactly_one_row() -> None:
    documented = re.findall(r"^\| `([a-z_.]+)`", read("docs/errors.md"), re.MULTILINE)

    assert sorted(codes_of(UbpError)) == sorted(documented)


def keys_of(struct: type[Struct], prefix: str = "") -> Iterator[str]:
    for name, hint in get_type_hints(struct).items():
        if isinstance(hint, type) and issubclass(hint, Struct):
            yield from keys_of(hint, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


KEYS = sorted(keys_of(Settings))


def value_of(settings: Settings, key: str) -> Any:
    return reduce(getattr, key.split("."), cast("Any", settings))


def test_every_setting_has_exactly_one_row() -> None:
    table = read("docs/configuration.md")
    documented = re.findall(r"^\| `([a-z_.]+)` \|", table, re.MULTILINE)

    assert sorted(documented) == KEYS


def rows_of_settings() -> dict[str, list[str]]:
    """The cells of each row of the settings, without the key, by the key."""
    text = read("docs/configuration.md")
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*) \|$", text, re.MULTILINE)
    return {key: cells.split(" | ") for key, cells in rows if cells.count(" | ") == 3}


@pytest.mark.parametrize("key", KEYS)
def test_the_documented_default_of_a_setting_is_its_default(key: str) -> None:
    default = value_of(Settings(), key)

    told, *_ = rows_of_settings()[key]

    if literal := re.fullmatch(r"`([^`]*)`", told):
        value = tomllib.loads(f"default = {literal[1]}")["default"]
        assert msgspec.convert(value, type(default)) == default
    else:
        assert default in (None, (), [], {}), told


@pytest.mark.parametrize("key", KEYS)
def test_the_documented_range_and_example_of_a_setting_hold(key: str) -> None:
    *tables, name = key.split(".")
    _, told, _, example = rows_of_settings()[key]
    line = example.strip("`")
    text = f"[{'.'.join(tables)}]\n{line}" if tables and line[0] != "[" else line

    settings = msgspec.toml.decode(text, type=Settings)

    assert value_of(settings, key) is not None
    if bounds := re.fullmatch(r"(-?\d+) to (\d+)", told):
        for value, fits in ((bounds[1], True), (bounds[2], True), ("-2", False)):
            assert accepts(tables, f"{name} = {value}") is fits, value
        assert not accepts(tables, f"{name} = {int(bounds[2]) + 1}")


def accepts(tables: list[str], line: str) -> bool:
    try:
        msgspec.toml.decode(f"[{'.'.join(tables)}]\n{line}", type=Settings)
    except msgspec.ValidationError:
        return False
    return True


def test_the_documented_packs_are_the_packs() -> None:
    _, told, *_ = rows_of_settings()["packs"]

    assert set(re.findall(r"`(\w+)`", told)) == {pack.name for pack in discover()}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_and_is_documented(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            shown = parameter.help or parameter.default is not None
            assert shown, f"{name} {parameter.opts}"
    assert f"## `ubp {name}`" in read("docs/commands.md")


def test_the_command_reference_is_up_to_date() -> None:
    assert read("docs/commands.md") == commands(), "run `make docs`"


def links_of(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return [
        link for link in found if "://" not in link and not link.startswith("mailto:")
    ]


OWN = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "examples/README.md"]


@pytest.mark.parametrize("page", OWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_our_own_documents_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    missing = [link for link in links_of(text) if not (page.parent / link).exists()]
    assert missing == []


def test_every_make_target_of_the_readme_exists() -> None:
    makefile = read("Makefile")
    wanted: set[Any] = set(re.findall(r"`make ([a-z]+)`", read("README.md")))
    wanted |= set(re.findall(r"^\$? ?make ([a-z]+)", read("README.md"), re.MULTILINE))
    assert {
        t for t in wanted if not re.search(rf"^{t}:", makefile, re.MULTILINE)
    } == set()
