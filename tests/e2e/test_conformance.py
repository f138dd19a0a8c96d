"""The official conformance suite, for what of it is about more than HTTP and fixtures.

Most scenarios call tools, prompts and resources that a server is to have for the suite
alone, or judge the HTTP transport, which is the bridge's here. Neither says anything of
``ubp``; docs/compatibility.md lists them.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from compat_tools import compat_tool
from contributions import good_skill_text
from http_bridge import bridged
from models import without_model
from vaults import write_files

pytestmark = pytest.mark.slow

BOTH = ("tools-list", "resources-list", "prompts-list")
SCENARIOS = [
    *(
        ("2025-11-25", each)
        for each in ("server-initialize", "ping", "logging-set-level", *BOTH)
    ),
    *(
        ("2026-07-28", each)
        for each in (*BOTH, "caching", "sep-2164-resource-not-found")
    ),
    ("2026-07-28", "sep-2640-skills-enumeration"),
    ("2026-07-28", "sep-2640-skills-manifest"),
]

SETTINGS = """[registry]
skills_dirs = ["skills"]
"""


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_the_server_conforms(tmp_path: Path, revision: str, scenario: str) -> None:
    suite = compat_tool("conformance")
    root, results = tmp_path / "project", tmp_path / "results"
    write_files(
        root,
        {
            "ubp.toml": SETTINGS,
            "docs/鍵.md": "# 鍵\n",
            "skills/a-skill/SKILL.md": good_skill_text(),
        },
    )
    without_model(root)
    ubp = [sys.executable, "-m", "ubp"]
    subprocess.run([*ubp, "index", "--quiet", "--root", str(root)], check=True)

    with bridged([*ubp, "serve", "--shared", "--quiet", "--root", str(root)]) as url:
        asked = ["server", "--url", url, "--scenario", scenario, "-o", str(results)]
        done = subprocess.run(
            # By force, or the suite leaves out what is an extension.
            [*suite, *asked, "--spec-version", revision, "--force"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    assert done.returncode == 0, done.stdout + done.stderr
    [file] = results.rglob("checks.json")
    checks: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    judged = {each["id"]: each["status"] for each in checks}
    assert judged.pop("wire-schema-valid") == "SUCCESS"
    assert {each for each in judged.values() if each != "INFO"} == {"SUCCESS"}, checks
