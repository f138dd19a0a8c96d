"""The real process over real pipes: it starts, answers, survives, and ends."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from clients import PATIENCE, UBP, Client, serving
from models import without_model
from vaults import write_files

pytestmark = pytest.mark.slow

VAULT = Path(__file__).parents[2] / "examples/vault"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    copied = Path(shutil.copytree(VAULT, tmp_path / "vault"))
    without_model(copied)
    return copied


def test_a_client_searches_reads_and_walks_in_two_languages(vault: Path) -> None:
    with serving(vault) as client:
        client.until_indexed(26)

        english = client.call("ubp_search", query="hold queue")["results"][0]
        assert english["filepath"] == "specs/hold-queue.md"
        japanese = client.call("ubp_fulltext_search", query="延滞")
        assert japanese["total_found"] > 5
        assert "<mark>延滞</mark>" in japanese["results"][0]["snippet"]
        page = client.call("ubp_get_page", filepath="guides/認証フロー.md")
        assert page["outlinks"]
        graph = client.call("ubp_get_graph", center="guides/認証フロー.md", depth=1)
        assert graph["nodes"][0]["filepath"] == "guides/認証フロー.md"
        assert client.end() == 0


def test_arguments_may_be_sent_as_a_json_string(vault: Path) -> None:
    """Some clients encode them twice; what is no JSON object is still refused."""
    with serving(vault) as client:
        client.until_indexed(26)

        encoded = {"name": "ubp_fulltext_search", "arguments": '{"query": "延滞"}'}
        answer = client.ask("tools/call", encoded)["result"]
        assert answer["structuredContent"]["total_found"] > 5
        for nonsense in ("{no", "[1]", "5"):
            refused = client.ask("tools/call", {**encoded, "arguments": nonsense})
            assert refused["error"]["code"] == -32602


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_order(vault: Path, how: signal.Signals) -> None:
    with serving(vault, "--log-format", "json") as client:
        begin = time.monotonic()
        client.process.send_signal(how)

        assert client.wait() == 0
        assert time.monotonic() - begin < 15
        assert any('"serve.stopped"' in line for line in client.log)
        for line in client.log:
            json.loads(line)


def test_a_client_that_says_nothing_leaves_nothing_behind(vault: Path) -> None:
    client = Client(vault)

    assert client.end() == 0
    assert client.lines.get(timeout=5) is None


def test_a_second_server_is_refused_and_names_the_first(vault: Path) -> None:
    with serving(vault) as client:
        second = subprocess.run(
            [*UBP, "serve", "--root", str(vault)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

        assert second.returncode == 1
        assert second.stdout == ""
        assert str(client.process.pid) in second.stderr
        shown = subprocess.run(
            [*UBP, "status", "--json", "--root", str(vault)],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        assert json.loads(shown.stdout)["server_pid"] == client.process.pid


def test_a_server_without_its_parent_ends(vault: Path, tmp_path: Path) -> None:
    """A client that is killed may leave our input open in somebody else's hands."""
    fifo = tmp_path / "input"
    os.mkfifo(fifo)
    script = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen({[*UBP, 'serve', '--root', str(vault)]!r},"
        f" stdin=open({str(fifo)!r}), stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    )
    with fifo.open("w"):
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        lock = vault / ".ubp/serve.lock"
        wait_for(lambda: lock.exists() and lock.read_text().startswith(str(pid)))
        parent.kill()
        parent.wait()
        parent.stdout.close()

        wait_for(lambda: not alive(pid))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_kills_at_any_moment_leave_an_index_the_next_run_completes(
    tmp_path: Path,
) -> None:
    chance = random.Random(20261116)
    without_model(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(400):
        text = f"# Page {number}\n\n## Part\n\nunique{number} [[{number + 1}]]\n" * 3
        (docs / f"{number}.md").write_text(text, encoding="utf-8")
    for _ in range(6):
        process = subprocess.Popen([*UBP, "index", "--root", str(tmp_path)])
        time.sleep(chance.uniform(0.2, 1.2))
        process.kill()
        process.wait()
        database = tmp_path / ".ubp/index.db"
        if database.exists():
            db = apsw.Connection(str(database))
            assert db.pragma("integrity_check") == "ok"
            db.close()

    subprocess.run([*UBP, "index", "--root", str(tmp_path)], check=True)

    fresh = tmp_path / "fresh"
    shutil.copytree(docs, fresh / "docs")
    without_model(fresh)
    subprocess.run([*UBP, "index", "--root", str(fresh)], check=True)
    assert contents(tmp_path) == contents(fresh)


def contents(root: Path) -> dict[str, list[Any]]:
    """What an index says, without what two runs may do differently."""
    db = apsw.Connection(str(root / ".ubp/index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    asked = {
        "pages": "SELECT path, title, doc_type, digest FROM docs_page ORDER BY path",
        "sections": """
            SELECT path, ordinal, heading, content FROM docs_section
              JOIN docs_page ON docs_page.id = page_id ORDER BY path, ordinal
        """,
        "links": """
            SELECT s.path, link.target, link.type, t.path, link.hidden
              FROM docs_link AS link JOIN docs_page AS s ON s.id = link.source_id
              LEFT JOIN docs_page AS t ON t.id = link.target_id ORDER BY 1, 2, 3
        """,
        "words": "SELECT word FROM docs_word ORDER BY word",
        "found": """
            SELECT path FROM docs_text JOIN docs_section ON docs_section.id = docs_text.rowid
              JOIN docs_page ON docs_page.id = page_id
             WHERE docs_text MATCH 'unique7 OR unique77 OR part' ORDER BY path, ordinal
        """,
    }
    found = {name: db.execute(sql).fetchall() for name, sql in asked.items()}
    db.close()
    return found


def test_indexing_beside_a_running_server_does_the_right_thing(vault: Path) -> None:
    with serving(vault) as client:
        client.until_indexed(26)
        (vault / "docs/new.md").write_text("# New\n\nquokka\n", encoding="utf-8")

        subprocess.run([*UBP, "index", "--root", str(vault)], check=True)

        assert client.call("ubp_fulltext_search", query="quokka")["total_found"] == 1


def test_the_examples_run(vault: Path) -> None:
    example = VAULT.parent / "minimal_client.py"
    subprocess.run([*UBP, "index", "--root", str(vault)], check=True)

    done = subprocess.run(
        [sys.executable, str(example), str(vault), "hold queue"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )

    assert done.stdout.startswith("Hold queue  (specs/hold-queue.md)")


def test_a_client_that_reads_nothing_cannot_stop_the_server(tmp_path: Path) -> None:
    """Neither the log nor the answers may block it: it still ends when told to."""
    without_model(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(1_500):
        (docs / f"{number}.md").write_bytes(b"\xff")
    (docs / "large.md").write_text("# Large\n\n" + "word " * 100_000, encoding="utf-8")
    process = subprocess.Popen(
        [*UBP, "serve", "--root", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"},
    }
    messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    messages += [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": "ubp_get_page", "arguments": {"filepath": "large.md"}},
        }
        for number in range(1, 30)
    ]
    for message in messages:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    wait_for((tmp_path / ".ubp/index.db").exists)
    time.sleep(2)
    process.send_signal(signal.SIGTERM)

    assert process.wait(PATIENCE) == 0
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def test_a_fresh_vault_is_searched_by_meaning_without_a_home_or_a_network(
    tmp_path: Path,
) -> None:
    """Nothing to set up: the model is made on first use, from what was installed."""
    home = tmp_path / "home"
    home.mkdir()
    pages = {
        "docs/late.md": "# Late returns\n\nAn overdue book costs ten cents a day.\n",
        "docs/cars.md": "# Garage\n\nChange the oil of the engine once a year.\n",
    }
    write_files(tmp_path / "vault", pages)
    nowhere = "http://127.0.0.1:9"
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    environment = {
        **{name: value for name, value in os.environ.items() if "XDG_" not in name},
        **dict.fromkeys([*proxies, *map(str.lower, proxies)], nowhere),
        "HOME": str(home),
    }
    with serving(tmp_path / "vault", environment=environment) as client:
        question = "what is the penalty for keeping a novel too long"

        def by_meaning() -> bool:
            # The page with the answer may be stored after the first vectors are made.
            found = client.call("ubp_search", query=question)
            return found["search_type"] == "hybrid" and any(
                each["filepath"] == "late.md"
                and each["score_breakdown"]["vector_similarity"]
                for each in found["results"]
            )

        wait_for(by_meaning)
        [best, *_] = client.call("ubp_search", query=question)["results"]

        assert best["filepath"] == "late.md"
        assert best["score_breakdown"]["vector_similarity"] > 0.2
        assert best["relevance_reason"]
        assert client.end() == 0
    assert list(home.rglob("*.gguf"))
