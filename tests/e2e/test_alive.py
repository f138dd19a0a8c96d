"""Real servers while files change, processes die, and disks fill up."""

import os
import random
import shutil
import signal
import subprocess
import time
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import apsw
import numpy as np
import pytest
from clients import PATIENCE, UBP, Client, eventually, serving
from index_contents import Contents, index_contents
from models import tiny_model, without_model
from numpy.typing import NDArray
from vaults import write_files

from ubp.store import damage, vectors
from ubp.store.connection import open_reader

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("UBP_ROUNDS", "6"))
"""How often something is killed; hundreds for a thorough run."""

MANY = int(os.environ.get("UBP_MANY", "3000"))
"""How many files change at once; 50,000 for a thorough run."""

LONG = PATIENCE + MANY / 10
"""Seconds that anything about so many files may take."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    pages = {
        f"docs/{n % 7}/page {n}.md": f"# Page {n}\n\nA heron. [[page {n + 1}]] 鷺{n}\n"
        for n in range(40)
    }
    write_files(root, pages)
    without_model(root)
    return root


def ubp(
    root: Path, *arguments: str, within: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*UBP, *arguments, "--root", str(root)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=within,
    )


def contents(root: Path) -> Contents:
    """What is in the index, once nobody writes to it."""
    database = root / ".ubp/index.db"
    db = apsw.Connection(str(database))
    try:
        assert db.pragma("integrity_check") == "ok"
        return index_contents(db)
    finally:
        db.close()


def fresh(root: Path, scratch: Path, within: float = PATIENCE) -> Contents:
    """What a new index of the same files holds."""
    copied = copy_of(root, scratch)
    assert ubp(copied, "index", "--no-embed", within=within).returncode == 0
    found = contents(copied)
    shutil.rmtree(copied)
    return found


def copy_of(root: Path, scratch: Path) -> Path:
    """The same files, links and pipes, without an index."""
    subprocess.run(["cp", "-a", str(root), str(scratch)], check=True)
    shutil.rmtree(scratch / ".ubp")
    return scratch


def hits(client: Client, query: str) -> list[str]:
    found = client.call("ubp_fulltext_search", query=query, limit=50)["results"]
    return sorted({one["filepath"] for one in found})


def paths(client: Client) -> set[str]:
    """All of them: of many, the list comes in parts."""
    answer = client.call("ubp_list_pages")
    found = answer["pages"]
    while cursor := answer.get("next_cursor"):
        answer = client.call("ubp_list_pages", cursor=cursor)
        found += answer["pages"]
    return {page["filepath"] for page in found}


def pages_of(root: Path) -> list[Path]:
    """What can be read as a page: a pipe or a folder may have the name of one."""
    return sorted(path for path in (root / "docs").rglob("*.md") if path.is_file())


def on_disk(root: Path) -> set[str]:
    docs = root / "docs"
    return {path.relative_to(docs).as_posix() for path in pages_of(root)}


def test_an_edit_a_new_page_and_a_deleted_one_are_seen(project: Path) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        write_files(project, {"docs/0/page 0.md": "# Changed\n\nAn ocelot.\n"})
        write_files(project, {"docs/new/deep/新しい.md": "# 新しい\n\n山猫です。\n"})
        (project / "docs/1/page 1.md").unlink()

        eventually(lambda: hits(client, "ocelot"), lambda it: it == ["0/page 0.md"])
        eventually(
            lambda: hits(client, "山猫"), lambda it: it == ["new/deep/新しい.md"]
        )
        eventually(lambda: paths(client), lambda it: it == on_disk(project))


def test_a_moved_folder_keeps_its_pages_with_their_ids(project: Path) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        before = client.call("ubp_get_page", filepath="3/page 3.md")["doc_id"]
        (project / "docs/3").rename(project / "docs/moved")

        eventually(lambda: paths(client), lambda it: it == on_disk(project))
        after = client.call("ubp_get_page", filepath="moved/page 3.md")["doc_id"]
        assert after == before


def test_what_git_ignores_goes_and_comes_back_with_the_rule(project: Path) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        write_files(project, {"docs/.gitignore": "/4/\n"})
        eventually(
            lambda: paths(client), lambda it: not any(p.startswith("4/") for p in it)
        )
        (project / "docs/.gitignore").unlink()
        client.until_indexed(40)


def test_nothing_stirs_of_its_own_accord(project: Path) -> None:
    """The index is in the watched folder here, and must not wake the watcher."""
    for page in (project / "docs").iterdir():
        shutil.move(page, project / page.name)
    (project / "docs").rmdir()
    with serving(project, "--log-level", "debug") as client:
        client.until_indexed(40)
        write_files(project, {"0/page 0.md": "# Changed\n"})
        eventually(
            lambda: client.call("ubp_get_page", filepath="0/page 0.md")["title"],
            lambda title: title == "Changed",
        )
        time.sleep(2)
        assert client.end() == 0
    updates = [line for line in client.log if "index.updated" in line]
    assert len(updates) == 2, updates


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_follower_takes_over_when_the_owner_ends(
    project: Path, how: signal.Signals
) -> None:
    with serving(project) as owner, serving(project, "--shared") as follower:
        owner.until_indexed(40)
        follower.until_indexed(40)
        refused = ubp(project, "serve")
        assert refused.returncode == 1
        assert str(owner.process.pid) in refused.stderr
        write_files(project, {"docs/new.md": "# New\n\nAn ocelot.\n"})
        for client in (owner, follower):
            eventually(lambda: hits(client, "ocelot"))  # noqa: B023

        owner.process.send_signal(how)
        owner.process.wait(PATIENCE)
        write_files(project, {"docs/newer.md": "# Newer\n\nA walrus.\n"})

        eventually(lambda: hits(follower, "walrus"))
        refused = ubp(project, "serve")
        assert str(follower.process.pid) in refused.stderr


def test_four_servers_and_changing_files_end_with_one_right_index(
    project: Path, tmp_path: Path
) -> None:
    chance = random.Random(4)
    with ExitStack() as stack:
        clients = [stack.enter_context(serving(project, "--shared")) for _ in range(4)]
        for step in range(30):
            stir(project, chance, step)
            hits(chance.choice(clients), "heron")
            if step % 10 == 5:
                client = clients.pop(chance.randrange(len(clients)))
                client.process.kill()
                client.process.wait(PATIENCE)
        for client in clients:
            eventually(lambda: paths(client), lambda it: it == on_disk(project))  # noqa: B023
            assert not [line for line in client.log if "locked" in line]
        settled(project, clients[0])
    assert contents(project) == fresh(project, tmp_path / "fresh")


def stir(root: Path, chance: random.Random, step: int) -> None:
    """Change something the way people and programs do."""
    docs = root / "docs"
    page = chance.choice([each for each in pages_of(root) if not each.is_symlink()])
    match chance.randrange(12):
        case 0 | 1:
            page.write_text(f"# Step {step}\n\nA heron, [[page {step}]].\n")
        case 2:
            page.unlink()
        case 3:
            page.rename(page.with_name(f"step {step}.md"))
        case 4:
            page.parent.rename(docs / f"folder {step}")
        case 5:
            write_files(root, {f"docs/new {step}/page {step}.md": f"# New {step}\n"})
        case _:
            stir_oddly(docs, page, chance, step)


def stir_oddly(docs: Path, page: Path, chance: random.Random, step: int) -> None:
    """The same, with what makes programs stumble."""
    match chance.randrange(8):
        case 0:
            aside = page.with_name(f".{page.name}.swp")
            aside.write_text(f"# Saved {step}\n\nA heron.\n")
            aside.replace(page)
        case 1:
            page.unlink()
            write_files(page, {"inside.md": f"# A folder since {step}\n"})
        case 2:
            page.with_name(f"linked {step}.md").hardlink_to(page)
        case 3:
            (docs / f"link {step}.md").symlink_to(page.relative_to(docs))
        case 4:
            os.mkfifo(docs / f"pipe {step}.md")
        case 5:
            page.rename(page.with_name(f"{page.stem.swapcase()}.md"))
        case 6:
            form: Literal["NFC", "NFD"] = chance.choice(("NFC", "NFD"))
            name = unicodedata.normalize(form, "がぎぐ.md")
            write_files(docs, {f"names/{name}": f"# {form} {step}\n"})
        case _:
            before = page.stat()
            page.write_bytes(page.read_bytes().replace(b"heron", b"crane"))
            os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))


def settled(root: Path, client: Client, within: float = PATIENCE) -> None:
    """Wait until the index is as the files are, by its own account."""

    def nothing_waits() -> bool:
        found = ubp(root, "status", "--json", within=within).stdout
        return '"waiting_files": 0' in found

    eventually(nothing_waits, within=within)
    eventually(lambda: paths(client), lambda it: it == on_disk(root), within=within)


def test_servers_killed_at_any_moment_leave_an_index_that_becomes_right(
    project: Path, tmp_path: Path
) -> None:
    chance = random.Random(9)
    user_files = {}
    for number in range(ROUNDS):
        client = Client(project, "--shared")
        for step in range(chance.randrange(4)):
            stir(project, chance, 100 * number + step)
            time.sleep(chance.random() * 0.4)
        user_files = {path: path.read_bytes() for path in pages_of(project)}
        time.sleep(chance.random() * 1.5)
        client.process.kill()
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.wait()
        if (project / ".ubp/index.db").exists():  # it may not have come to that
            db = apsw.Connection(str(project / ".ubp/index.db"))
            assert db.pragma("integrity_check") == "ok"
            db.close()
    assert user_files == {path: path.read_bytes() for path in pages_of(project)}
    assert ubp(project, "index", "--no-embed").returncode == 0
    assert contents(project) == fresh(project, tmp_path / "fresh")


def stored_pages(root: Path) -> int:
    """Without asking the server: it has enough to do."""
    db = open_reader(root / ".ubp/index.db")
    try:
        return int(db.execute("SELECT count(*) FROM docs_page").get)
    finally:
        db.close()


def embedded(root: Path) -> int:
    """How many texts have a vector."""
    db = open_reader(root / ".ubp/index.db")
    try:
        return vectors.progress(db).completed
    finally:
        db.close()


@pytest.mark.timeout(5 * LONG)
def test_a_branch_switch_of_many_files_is_carried_over_whole(
    project: Path, tmp_path: Path
) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        pages = {
            f"docs/many/{n % 50}/{n}.md": f"# Many {n}\n\n[[{n + 1}]]\n"
            for n in range(MANY)
        }
        write_files(project, pages)
        shutil.rmtree(project / "docs/2")
        there = len(on_disk(project))
        eventually(lambda: stored_pages(project), lambda it: it == there, within=LONG)
        # And back, more or less: everything is touched, and some of it changed.
        for number, path in enumerate(pages):
            if number % 3:
                os.utime(project / path, (number, number))
            else:
                write_files(project, {path: f"# Again {number}\n"})
        settled(project, client, LONG)
        assert client.end() == 0
    assert contents(project) == fresh(project, tmp_path / "fresh", LONG)


def test_clocks_may_jump(project: Path, tmp_path: Path) -> None:
    """Times in the future, before all times, or set back to what they were."""
    with serving(project) as client:
        client.until_indexed(40)
        times = (2**33, 0, -1_000_000, 1.5, time.time() + 3600, time.time() - 3600)
        for number, when in enumerate(times):
            page = project / f"docs/{number}/page {number}.md"
            page.write_text(f"# Jump {number}\n\nAn ocelot.\n", encoding="utf-8")
            os.utime(page, (when, when))
        eventually(lambda: hits(client, "ocelot"), lambda it: len(it) == len(times))

        page = project / "docs/0/page 0.md"
        before = page.stat()
        swapped = page.read_text(encoding="utf-8").replace("ocelot", "walrus")
        page.write_text(swapped, encoding="utf-8")
        os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert page.stat().st_size == before.st_size
        eventually(lambda: hits(client, "walrus"), lambda it: it == ["0/page 0.md"])
        settled(project, client)
        assert client.end() == 0
    assert contents(project) == fresh(project, tmp_path / "fresh")


def test_killed_while_embedding_no_vector_is_missing_or_of_another_text(
    project: Path, tmp_path: Path
) -> None:
    model = tiny_model(tmp_path / "tiny.gguf")
    settings = f'[embedding]\nmodel = "{model.as_posix()}"\nbatch_size = 2\n'
    (project / "ubp.toml").write_text(settings, encoding="utf-8")
    chance = random.Random(21)
    for number in range(ROUNDS):
        client = Client(project, "--shared")
        time.sleep(1 + chance.random())
        stir(project, chance, 100 * number)
        time.sleep(chance.random() * 0.5)
        client.process.kill()
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.wait()
    assert ubp(project, "index").returncode == 0
    assert contents(project) == fresh(project, tmp_path / "fresh")

    copied = copy_of(project, tmp_path / "again")
    assert ubp(copied, "index").returncode == 0
    kept, new = vectors_of(project), vectors_of(copied)
    assert kept.keys() == new.keys()
    for digest, value in kept.items():
        assert value @ new[digest] == pytest.approx(1, abs=1e-3)


def vectors_of(root: Path) -> dict[bytes, NDArray[np.float32]]:
    """The vector of every text that is to have one, by the text's digest."""
    db = apsw.Connection(str(root / ".ubp/index.db"))
    try:
        now = vectors.progress(db)
        assert now.completed == now.total > 0
        rows = db.execute(
            "SELECT digest, value FROM vector WHERE digest IN "
            "(SELECT digest FROM passage WHERE embedded > 0)"
        )
        return {digest: np.frombuffer(value, np.float32) for digest, value in rows}
    finally:
        db.close()


@pytest.mark.parametrize("part", ["beginning", "middle", "everything"])
def test_an_index_damaged_under_a_server_is_set_aside_and_made_again(
    project: Path, tmp_path: Path, part: str
) -> None:
    database = project / ".ubp/index.db"
    with serving(project) as client, serving(project, "--shared") as follower:
        client.until_indexed(40)
        follower.until_indexed(40)
        spoil(database, part)

        def answers(who: Client) -> Any:
            found = who.ask(
                "tools/call",
                {"name": "ubp_fulltext_search", "arguments": {"query": "鷺"}},
            )
            return found.get("result", {}).get("structuredContent")

        # Whatever it still has in memory it may answer from; a change makes it look.
        write_files(project, {"docs/new.md": "# New\n\n鷺です。\n"})
        eventually(lambda: damage.kept(database).exists() or None)
        for who in (client, follower):
            eventually(
                lambda: answers(who),  # noqa: B023
                lambda found: found is not None and found["total_found"] == 41,
            )
        assert any("index.set_aside" in line for line in client.log)
        settled(project, client)
        assert client.end() == 0
    assert contents(project) == fresh(project, tmp_path / "fresh")


def test_only_what_is_damaged_is_set_aside_however_many_notice(project: Path) -> None:
    database = project / ".ubp/index.db"
    with ExitStack() as stack:
        clients = [stack.enter_context(serving(project, "--shared")) for _ in range(4)]
        for client in clients:
            client.until_indexed(40)
        spoil(database, "beginning")
        write_files(project, {"docs/new.md": "# New\n"})
        for client in clients:
            eventually(lambda: paths(client), lambda it: "new.md" in it)  # noqa: B023
        time.sleep(2.5)  # a late report would have had its effect by now
        logs = [line for client in clients for line in client.log]
    assert len([line for line in logs if "index.set_aside" in line]) == 1
    assert damage.kept(database).read_bytes().startswith(b"nonsense")


def test_a_report_without_reason_costs_nothing(project: Path) -> None:
    assert ubp(project, "index").returncode == 0
    database = project / ".ubp/index.db"
    damage.report(database, damage.identity(database))
    with serving(project) as client:
        eventually(lambda: not damage.reported(database))
        client.until_indexed(40)
    assert not damage.kept(database).exists()


def test_a_deleted_project_is_not_made_again_but_waited_for(project: Path) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        away = project.rename(project.with_name("away"))
        eventually(lambda: [line for line in client.log if "project_gone" in line])
        assert not project.exists()

        away.rename(project)
        eventually(lambda: [line for line in client.log if "project_back" in line])
        client.until_indexed(40)


def spoil(database: Path, part: str) -> None:
    size = database.stat().st_size
    with database.open("r+b") as file:
        if part == "everything":
            file.write(b"\xff" * size)
        elif part == "beginning":
            file.write(b"nonsense" * 64)
        else:
            file.seek(4096)
            file.write(os.urandom(size - 4096))
    # What is in the log would hide it.
    with database.with_name("index.db-wal").open("r+b") as file:
        file.truncate(0)


def test_a_deleted_index_is_made_again_under_the_server(project: Path) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        shutil.rmtree(project / ".ubp")
        write_files(project, {"docs/new.md": "# New\n\nAn ocelot.\n"})

        eventually((project / ".ubp/index.db").exists)
        client.until_indexed(41)
        refused = ubp(project, "serve")
        assert refused.returncode == 1


def test_an_index_deleted_while_embedding_is_made_again_with_all_vectors(
    project: Path, tmp_path: Path
) -> None:
    model = tiny_model(tmp_path / "tiny.gguf")
    settings = f'[embedding]\nmodel = "{model.as_posix()}"\nbatch_size = 1\n'
    (project / "ubp.toml").write_text(settings, encoding="utf-8")
    with serving(project) as client:
        eventually(lambda: [line for line in client.log if "model.loaded" in line])
        shutil.rmtree(project / ".ubp")

        eventually((project / ".ubp/index.db").exists)
        client.until_indexed(40)
        # Each page is embedded for the docs and for the notes.
        eventually(lambda: embedded(project), lambda it: it == 80)
        assert not [line for line in client.log if "actor." in line]


def test_a_lock_that_cannot_be_had_is_told_and_taken_up_again(project: Path) -> None:
    lock = project / ".ubp/serve.lock"
    with serving(project) as client:
        client.until_indexed(40)
        lock.unlink()
        lock.mkdir()
        eventually(lambda: [line for line in client.log if "serve.no_lock" in line])
        client.until_indexed(40)

        lock.rmdir()
        write_files(project, {"docs/new.md": "# New\n\nAn ocelot.\n"})
        eventually(lambda: hits(client, "ocelot"))
        assert client.end() == 0


def test_something_else_in_the_place_of_the_index_ends_the_server_with_a_reason(
    project: Path,
) -> None:
    with serving(project) as client:
        client.until_indexed(40)
        shutil.rmtree(project / ".ubp")
        (project / ".ubp").write_text("")

        assert client.wait() == 1
    log = "".join(client.log)
    assert "The folder .ubp cannot be made" in log
    assert "Traceback" not in log


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A project on a disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_on_a_full_disk_what_is_committed_answers_and_indexing_resumes(
    small_disk: Path, tmp_path: Path
) -> None:
    root = small_disk / "project"
    write_files(root, {"docs/a.md": "# A\n\nA heron.\n"})
    without_model(root)
    with serving(root) as client:
        client.until_indexed(1)
        ballast = small_disk / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        # As long as there are bytes left in a page, small files still fit.
        write_files(tmp_path, {"big.md": "# Big\n\n" + "ocelot pelican " * 4_000})
        with ballast.open("r+b") as file:
            file.truncate(ballast.stat().st_size - 80_000)
        shutil.copy(tmp_path / "big.md", root / "docs/big.md")

        eventually(lambda: [line for line in client.log if "index.no_room" in line])
        assert hits(client, "heron") == ["a.md"]
        ballast.unlink()

        eventually(lambda: hits(client, "pelican"), lambda it: it == ["big.md"])
        assert any("index.room_again" in line for line in client.log)
        assert client.end() == 0
    assert contents(root) == fresh(root, tmp_path / "fresh")


def read_only(place: Path, *, on: bool) -> None:
    mode = "remount,ro" if on else "remount,rw"
    subprocess.run(["mount", "-o", mode, str(place)], check=True)


@pytest.mark.parametrize("beside", ["all", "nothing"])
def test_a_read_only_project_answers_from_its_index_until_it_can_be_written(
    small_disk: Path, beside: str
) -> None:
    root = small_disk / "project"
    write_files(root, {"docs/a.md": "# A\n\nA heron.\n"})
    without_model(root)
    assert ubp(root, "index").returncode == 0
    if beside == "nothing":
        apsw.Connection(str(root / ".ubp/index.db")).pragma("wal_checkpoint")
        for part in ("-wal", "-shm"):
            (root / f".ubp/index.db{part}").unlink(missing_ok=True)
    read_only(small_disk, on=True)

    refused = ubp(root, "index")
    assert refused.returncode == 1
    assert "could not be written" in refused.stderr
    with serving(root) as client:
        assert hits(client, "heron") == ["a.md"]
        eventually(lambda: [line for line in client.log if "read_only" in line])
        read_only(small_disk, on=False)
        write_files(root, {"docs/b.md": "# B\n\nAn ocelot.\n"})
        eventually(lambda: hits(client, "ocelot"), lambda it: it == ["b.md"])
        assert client.end() == 0


def test_a_read_only_project_without_an_index_is_refused(small_disk: Path) -> None:
    root = small_disk / "project"
    write_files(root, {"docs/a.md": "# A\n", ".ubp/.gitignore": "*\n"})
    read_only(small_disk, on=True)

    refused = ubp(root, "serve")

    assert refused.returncode == 1
    assert "could not be made" in refused.stderr
    assert "Traceback" not in refused.stderr
