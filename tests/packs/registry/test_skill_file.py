from typing import Any

import pytest
from contributions import skill_text
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ubp.packs.registry.problems import InvalidContribution
from ubp.packs.registry.skill_file import LARGEST, Extension, Skill, generate, parse

FULL = """---
name: ledger-check
description: Checks a ledger against the bank statement, month by month.
version: "1.2"
author: Ann
license: MIT
tags: [finance, ledger]
allowed-tools: [Read, "Bash(git:*)"]
kp:
  knowledge_capture: true
  domain: finance
  quality_threshold: 0.8
  privacy_level: federated
  visibility: org
  reward_eligible: false
metadata:
  short: hint
---
# Ledger check

Read the ledger.
"""

VALID = {
    "minimal": skill_text(),
    "crlf": skill_text().replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + skill_text(),
    "extra keys": skill_text(front="metadata:\n  short: yes\ncompatibility: any\n"),
    "empty body": "---\nname: a-skill\ndescription: Nothing to do.\n---\n",
    "emoji": skill_text(body="Ask the 👩\u200d💻 team."),
    "rule in body": skill_text(body="Above\n\n---\n\nBelow"),
    "empty kp": skill_text(front="kp:\n"),
}

INVALID = {
    "no delimiters": ("name: x\ndescription: y\n", ""),
    "not closed": ("---\nname: x\ndescription: y\n", ""),
    "empty": ("", ""),
    "no name": ("---\ndescription: y\n---\nBody\n", "name"),
    "empty name": ('---\nname: ""\ndescription: y\n---\nBody\n', "name"),
    "name is a list": ("---\nname: [a]\ndescription: y\n---\nBody\n", "name"),
    "no description": ("---\nname: x\n---\nBody\n", "description"),
    "empty description": ('---\nname: x\ndescription: " "\n---\n', "description"),
    "broken yaml": ("---\nname: [x\ndescription: y\n---\nBody\n", ""),
    "a list": ("---\n- a\n- b\n---\nBody\n", ""),
    "tags as mapping": (skill_text(front="tags: {a: b}\n"), "tags"),
    "tags of lists": (skill_text(front="tags: [[a]]\n"), "tags"),
    "kp is a text": (skill_text(front="kp: yes\n"), "kp"),
    "threshold 2": (
        skill_text(front="kp:\n  quality_threshold: 2.0\n"),
        "kp.quality_threshold",
    ),
    "threshold true": (
        skill_text(front="kp:\n  quality_threshold: true\n"),
        "kp.quality_threshold",
    ),
    "privacy public": (
        skill_text(front="kp:\n  privacy_level: public\n"),
        "kp.privacy_level",
    ),
    "visibility global": (
        skill_text(front="kp:\n  visibility: global\n"),
        "kp.visibility",
    ),
    "visibility list": (
        skill_text(front="kp:\n  visibility: [org]\n"),
        "kp.visibility",
    ),
    "capture text": (
        skill_text(front="kp:\n  knowledge_capture: maybe\n"),
        "kp.knowledge_capture",
    ),
    "reward number": (
        skill_text(front="kp:\n  reward_eligible: 3\n"),
        "kp.reward_eligible",
    ),
    "domain list": (skill_text(front="kp:\n  domain: [a]\n"), "kp.domain"),
    "too large": (skill_text(body="x" * LARGEST), ""),
}


def test_a_full_skill_is_read() -> None:
    skill = parse(FULL)

    assert skill == Skill(
        name="ledger-check",
        description="Checks a ledger against the bank statement, month by month.",
        version="1.2",
        author="Ann",
        license="MIT",
        tags=("finance", "ledger"),
        allowed_tools=("Read", "Bash(git:*)"),
        kp=Extension(
            knowledge_capture=True,
            domain="finance",
            quality_threshold=0.8,
            privacy_level="federated",
            visibility="org",
            reward_eligible=False,
        ),
        others={"metadata": {"short": "hint"}},
        body="# Ledger check\n\nRead the ledger.\n",
        raw=FULL,
    )


@pytest.mark.parametrize("name", VALID)
def test_a_well_formed_skill_is_read(name: str) -> None:
    skill = parse(VALID[name])

    assert skill.name == "a-skill"
    assert skill.kp == Extension()
    assert skill.raw == VALID[name]


@pytest.mark.parametrize("name", INVALID)
def test_a_malformed_skill_is_refused_with_the_path_of_what_is_wrong(name: str) -> None:
    text, path = INVALID[name]

    with pytest.raises(InvalidContribution) as refused:
        parse(text)

    assert [problem.path for problem in refused.value.problems] == [path]
    assert refused.value.code == "registry.invalid"


def test_broken_yaml_is_called_so() -> None:
    with pytest.raises(InvalidContribution) as refused:
        parse(INVALID["broken yaml"][0])

    assert "YAML" in refused.value.message


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidContribution) as refused:
        parse("---\nkp: {visibility: x, quality_threshold: y}\n---\n")

    assert {problem.path for problem in refused.value.problems} == {
        "name",
        "description",
        "kp.visibility",
        "kp.quality_threshold",
    }


@pytest.mark.parametrize(
    ("front", "field", "value"),
    [
        ("version: 1.0\n", "version", "1.0"),
        ("version: 2\n", "version", "2"),
        ("version: 1.10\n", "version", "1.10"),
        ("author: 7\n", "author", "7"),
        ("tags: one, two\n", "tags", ("one", "two")),
        ("tags: 経費、精算\n", "tags", ("経費", "精算")),
        ("tags: [a, 1, a]\n", "tags", ("a", "1")),
        (
            "allowed-tools: Read, Bash(git add, git commit)\n",
            "allowed_tools",
            ("Read", "Bash(git add, git commit)"),
        ),
    ],
)
def test_what_is_meant_is_taken(front: str, field: str, value: Any) -> None:
    assert getattr(parse(skill_text(front=front)), field) == value


@pytest.mark.parametrize("text", [FULL, *VALID.values()])
def test_a_generated_skill_reads_as_the_same_skill(text: str) -> None:
    skill = parse(text)

    again = parse(generate(skill))

    assert replace(again, raw="") == replace(skill, raw="")


words = (
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1)
    .map(str.strip)
    .filter(bool)
)


@given(words, words, st.lists(words), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_skill_survives_being_written_and_read(
    name: str, description: str, tags: list[str], body: str
) -> None:
    skill = Skill(
        name=name,
        description=description,
        tags=tuple(dict.fromkeys(tags)),
        body=body.replace("\r", ""),
    )

    again = parse(generate(skill))

    assert replace(again, raw="") == skill


@given(st.text(alphabet=st.sampled_from("---\n:name description[]{}&*!a日")))
def test_any_text_is_a_skill_or_refused(text: str) -> None:
    try:
        parse(f"---\n{text}\n---\n")
    except InvalidContribution as refused:
        assert refused.problems
