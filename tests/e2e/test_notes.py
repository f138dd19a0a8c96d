"""Notes through the real process: with a service for vectors, and on the command line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from clients import UBP, eventually, serving
from embedding_service import KEY, Service, embedding_service, embeds, says
from vaults import write_files

pytestmark = pytest.mark.slow

NOTES = {
    "docs/birds.md": "---\ntitle: Finches\ntags: [zoo]\n---\n## Song\n\nThe bird sings at dawn.\n",
    "docs/tea.md": "## Tea\n\nThe kettle boils slowly.\n",
}


def project(root: Path, service: Service, **more: str) -> dict[str, str]:
    """A project whose vectors come from *service*; the environment to run it in."""
    write_files(root, NOTES)
    lines = {
        "provider": '"http"',
        "model": '"voyage-3-lite"',
        "url": json.dumps(service.url),
        "unrelated": "0.3",
        "related": "0.9",
        **more,
    }
    settings = "\n".join(f"{key} = {value}" for key, value in lines.items())
    (root / "ubp.toml").write_text(f"[embedding]\n{settings}\n", encoding="utf-8")
    return {**os.environ, "VOYAGE_API_KEY": KEY}


def run(
    root: Path, *arguments: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*UBP, *arguments, "--root", str(root)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=env,
        timeout=100,
        check=False,
    )


def test_notes_are_found_by_the_vectors_of_a_service(tmp_path: Path) -> None:
    with embedding_service() as service:
        env = project(tmp_path, service)
        with serving(tmp_path, environment=env) as client:

            def found() -> list[Any]:
                return client.call("search_docs", query="bird watching")["result"]  # type: ignore[no-any-return]

            [hit] = eventually(found)
            assert hit["file_path"] == "docs/birds.md"
            assert hit["similarity"] > 0.7
            # A text it cannot take, then a service that is gone: nobody is told that
            # there is nothing.
            service.otherwise = says(400, {"detail": "not like that"})
            answer = client.ask(
                "tools/call",
                {"name": "search_docs", "arguments": {"query": "snow and ice"}},
            )["result"]
            assert answer["isError"]
            assert answer["content"][0]["text"].startswith("Error: ")
            assert "not like that" in answer["content"][0]["text"]
            by_words = client.call("search_docs", query="kettle boils")
            assert by_words["result"][0]["file_path"] == "docs/tea.md"
            assert "not like that" in by_words["notice"]
            log = "".join(client.log)
        roles = {role for role, _ in service.texts}
        assert roles == {"document", "query"}
    assert KEY not in log
    assert KEY.encode() not in (tmp_path / ".ubp/index.db").read_bytes()


def test_a_service_that_fails_for_a_while_costs_no_text_its_vector(
    tmp_path: Path,
) -> None:
    with embedding_service() as service:
        env = project(tmp_path, service)
        service.otherwise = says(401, {"detail": f"bad key {KEY}"})

        told = run(tmp_path, "index", env=env)

        assert "bad key …" in told.stdout
        assert KEY not in told.stdout + told.stderr
        service.otherwise = embeds
        assert json.loads(run(tmp_path, "index", "--json", env=env).stdout)["embedded"]
        asked = len(service.seen)
        run(tmp_path, "index", env=env)
        assert len(service.seen) == asked, "what has a vector is not asked for again"


def test_another_model_of_the_service_embeds_everything_again(tmp_path: Path) -> None:
    with embedding_service() as service:
        env = project(tmp_path, service)
        run(tmp_path, "index", env=env)
        before = len(service.seen)

        project(tmp_path, service, model='"voyage-3"')
        run(tmp_path, "index", env=env)

        assert len(service.seen) > before
        assert service.seen[-1][1]["model"] == "voyage-3"


def test_a_service_that_makes_other_vectors_than_before_is_told_of(
    tmp_path: Path,
) -> None:
    with embedding_service() as service:
        env = project(tmp_path, service)
        run(tmp_path, "index", env=env)
        service.otherwise = says(200, {"data": [{"embedding": [1, 2, 3], "index": 0}]})

        told = run(tmp_path, "call", "search_docs", '{"query": "snow"}', env=env)

        assert told.returncode == 1
        assert "vectors of 3 numbers for voyage-3-lite" in told.stderr
        assert "only words could be looked for" in told.stderr
        assert "embedding.url" in told.stderr
        assert "damaged" not in told.stderr


def test_without_its_key_the_variable_is_named_and_search_is_by_words(
    tmp_path: Path,
) -> None:
    with embedding_service() as service:
        env = project(tmp_path, service)
        del env["VOYAGE_API_KEY"]

        told = run(tmp_path, "index", env=env)
        found = run(tmp_path, "notes", "search", "kettle boils", env=env)
        none = run(tmp_path, "call", "search_docs", '{"query": "snow"}', env=env)
        doctor = run(tmp_path, "doctor", env=env)
        listed = run(tmp_path, "model", "list", env=env)
        info = run(tmp_path, "model", "info", env=env)
        pulled = run(tmp_path, "model", "pull", env=env)

        assert "VOYAGE_API_KEY" in told.stdout
        assert (found.returncode, "docs/tea.md" in found.stdout) == (0, True)
        assert "VOYAGE_API_KEY" in found.stdout
        assert none.returncode == 1
        assert "VOYAGE_API_KEY" in none.stderr
        assert "VOYAGE_API_KEY" in doctor.stdout
        assert "voyage-3-lite" in listed.stdout
        assert "127.0.0.1" in info.stdout
        assert pulled.returncode == 1
        assert service.seen == []
        env["VOYAGE_API_KEY"] = KEY
        assert "to a vector" in run(tmp_path, "doctor", env=env).stdout


def test_notes_on_the_command_line(tmp_path: Path) -> None:
    write_files(tmp_path, {**NOTES, "ubp.toml": '[embedding]\nmodel = "none"\n'})
    env = dict(os.environ)
    run(tmp_path, "index", env=env)

    shown = run(tmp_path, "notes", "search", "sings", "--tag", "zoo", env=env).stdout
    assert "Finches › Song" in shown
    assert "docs/birds.md" in shown
    assert "1 passage found" in shown
    many = run(tmp_path, "notes", "search", "the", "--limit", "99", "--json", env=env)
    assert len(json.loads(many.stdout)) == 2
    got = run(tmp_path, "notes", "get", "birds.md", env=env).stdout
    assert "Tags: zoo" in got
    assert "The bird sings" in got
    assert "zoo" in run(tmp_path, "notes", "tags", env=env).stdout
    tags = json.loads(run(tmp_path, "notes", "tags", "--json", env=env).stdout)
    assert tags == {"tags": [{"tag": "zoo", "count": 1}]}
    gone = run(tmp_path, "notes", "get", "docs/bird.md", env=env)
    assert gone.returncode == 1
    assert "docs/birds.md" in gone.stderr
    status = run(tmp_path, "status", env=env).stdout
    assert "2 notes, 2 chunks, 1 tags" in status
