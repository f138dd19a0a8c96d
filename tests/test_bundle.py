"""The desktop extension and the registry's entry: what they say holds."""

import json
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from compat_tools import compat_folder, compat_tool
from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.validators import validator_for

from bundle.build import MEANING, WORDS, build, recipe
from ubp import __version__
from ubp.cli.serve import serve

ROOT = Path(__file__).parents[1]

TEXT = {"type": "string", "minLength": 1}

SCHEMAS = Path(__file__).parent / "schemas"
"""Published ones; its README says by whom."""

ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "oneOf": [
        {"properties": {"type": {"const": "positional"}}, "required": ["value"]},
        {"properties": {"type": {"const": "named"}}, "required": ["name"]},
    ],
    "properties": {"format": {"enum": ["string", "number", "boolean", "filepath"]}},
}

SERVER = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": {"pattern": r"^\d+\.\d+\.\d+", "maxLength": 255},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "transport": {"properties": {"type": {"const": "stdio"}}},
                    "packageArguments": {"type": "array", "items": ARGUMENT},
                    "registryBaseUrl": False,
                },
            },
        },
    },
}
"""The registry's rules of 2025-12-11 for what we use of them, in our words."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a client has after opening the bundle."""
    folder = tmp_path_factory.mktemp("bundle")
    with zipfile.ZipFile(build(folder / "dist")) as archive:
        archive.extractall(folder / "opened")
    return folder / "opened"


def read(file: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return value


def schema_of(manifest: dict[str, Any]) -> str:
    return f"mcpb-manifest-v{manifest['manifest_version']}.schema.json"


def test_the_manifest_is_as_clients_want_it(opened: Path) -> None:
    manifest = read(opened / "manifest.json")

    Draft7Validator(read(SCHEMAS / schema_of(manifest))).validate(manifest)
    assert manifest["version"] == __version__
    assert (opened / manifest["server"]["entry_point"]).is_file()
    assert manifest["user_config"]["folder"]["type"] == "directory"
    assert manifest["user_config"]["folder"]["required"]


def test_a_manifest_with_a_mistake_is_refused(opened: Path) -> None:
    manifest = read(opened / "manifest.json")
    schema = Draft7Validator(read(SCHEMAS / schema_of(manifest)))

    assert not schema.is_valid({**manifest, "user_settings": {}})
    assert not schema.is_valid({**manifest, "server": {"type": "uv"}})


def test_our_copy_of_the_schema_is_the_published_one(opened: Path) -> None:
    name = schema_of(read(opened / "manifest.json"))
    package = compat_folder() / "node_modules/@anthropic-ai/mcpb/schemas"
    if not package.exists():
        pytest.skip("mcpb is not installed; `make compat` does it")

    assert (package / name).read_bytes() == (SCHEMAS / name).read_bytes()


def test_the_publisher_of_the_schema_accepts_the_manifest(opened: Path) -> None:
    command = [*compat_tool("mcpb"), "validate", str(opened / "manifest.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_bundle_serves_the_folder_that_was_chosen(opened: Path) -> None:
    arguments = read(opened / "manifest.json")["server"]["mcp_config"]["args"]
    ours = arguments[arguments.index("ubp") + 1 :]

    assert ours == ["serve", "--shared", "--root", "${user_config.folder}"]
    parsed = serve.make_context("serve", [*ours[1:-1], str(opened)])
    assert parsed.params["shared"]


def test_every_setting_that_the_command_uses_can_be_set(opened: Path) -> None:
    manifest = read(opened / "manifest.json")
    used = re.findall(
        r"\$\{([^}]+)\}", " ".join(manifest["server"]["mcp_config"]["args"])
    )

    offered = {f"user_config.{name}" for name in manifest["user_config"]}
    assert set(used) == offered | {"__dirname"}


def test_either_position_of_the_checkbox_names_an_extra(opened: Path) -> None:
    extras = tomllib.loads((opened / "pyproject.toml").read_text("utf-8"))["project"]
    arguments = read(opened / "manifest.json")["server"]["mcp_config"]["args"]
    wanted = arguments[arguments.index("--extra") + 1]

    named = {
        wanted.replace("${user_config.meaning}", each) for each in ("true", "false")
    }
    assert named == {WORDS, MEANING} == set(extras["optional-dependencies"])


def test_the_recipe_loses_no_dependency() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    made = tomllib.loads(recipe(project))["project"]

    extra = made["optional-dependencies"]
    [compiled] = [
        each for each in extra[MEANING] if each.startswith("llama-cpp-python")
    ]
    before = tomllib.loads(project)["project"]["dependencies"]
    assert sorted([*made["dependencies"], compiled]) == sorted(before)
    assert extra[WORDS] == []


def test_the_bundle_holds_the_package_and_nothing_else(opened: Path) -> None:
    inside = {f.relative_to(opened).parts[0] for f in opened.rglob("*") if f.is_file()}
    assert inside == {"LICENSE", "README.md", "manifest.json", "pyproject.toml", "ubp"}
    assert not [f for f in opened.rglob("*") if f.suffix == ".pyc"]
    assert (opened / "ubp/py.typed").exists()


def test_the_same_files_make_the_same_bundle(tmp_path: Path) -> None:
    first, second = build(tmp_path / "first"), build(tmp_path / "second")
    assert first.read_bytes() == second.read_bytes()


def test_the_committed_versions_are_those_of_the_package() -> None:
    entry = read(ROOT / "server.json")
    assert read(ROOT / "bundle/manifest.json")["version"] == __version__
    assert entry["version"] == __version__
    assert [package["version"] for package in entry["packages"]] == [__version__]


def test_the_registry_entry_keeps_the_rules() -> None:
    Draft202012Validator(SERVER).validate(read(ROOT / "server.json"))


def test_the_published_schema_accepts_the_registry_entry() -> None:
    file = compat_folder() / "server.schema.json"
    if not file.exists():
        pytest.skip("the registry's schema is not here; `make compat` fetches it")
    schema, entry = read(file), read(ROOT / "server.json")

    assert schema["$id"] == entry["$schema"]
    validator_for(schema)(schema).validate(entry)


def test_the_readme_says_whose_entry_it_is() -> None:
    """The registry looks for it in the description of the package."""
    name = read(ROOT / "server.json")["name"]
    assert f"mcp-name: {name} " in (ROOT / "README.md").read_text("utf-8")


def test_the_arguments_of_the_registry_entry_start_a_server(tmp_path: Path) -> None:
    [package] = read(ROOT / "server.json")["packages"]
    line = [
        f"{each['name']}={tmp_path}" if each["type"] == "named" else each["value"]
        for each in package["packageArguments"]
    ]

    assert line[0] == "serve"
    parsed = serve.make_context("serve", line[1:])
    assert parsed.params["shared"]
