"""A file that is moved: its page stays the same page, and every link is as if new."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_contents import Contents, index_contents
from models import NoMeaning
from vaults import vault, write_files

from ubp.actors.ports import Call, channel
from ubp.actors.progress import Progress
from ubp.actors.reading_child import outcome
from ubp.actors.tool_runner import ToolRunner
from ubp.actors.wiring import prepare_database
from ubp.actors.writer import Writer
from ubp.messages import (
    FileChanged,
    FileGone,
    IndexEvent,
    RunTool,
    TextsChanged,
    VectorChange,
)
from ubp.packs.docs import PACK, queries
from ubp.project import Project
from ubp.reading.changes import differences
from ubp.reading.walk import walk
from ubp.store import files, vectors
from ubp.store.connection import open_reader, open_writer
from ubp.store.session import writing

assert PACK.reading is not None
READING = PACK.reading


def events_of(project: Project, database: Path) -> list[IndexEvent]:
    """What the writer hears of the differences between disk and index."""
    source = READING.source(project)
    db = open_writer(database)
    prepare_database(db)
    known = files.known(db, "docs")
    db.close()
    found = sorted(walk(source), key=lambda each: each.path)
    return [
        outcome(event, project, source, READING)
        if isinstance(event, FileChanged)
        else event
        for event in differences("docs", found, known)
    ]


def carried(
    project: Project,
    database: Path,
    events: Iterable[IndexEvent],
    *,
    folder: Path | None,
) -> None:
    """Have a writer carry out *events*, to the end."""

    async def run() -> None:
        outbox, inbox = channel[IndexEvent](1_000)
        calls, call_inbox = channel[Call[RunTool, Any]](1)
        changes, change_inbox = channel[Call[VectorChange, Any]](1)
        embedder, nudges = channel[TextsChanged](1)
        async with writing(database) as session:
            writer = Writer(
                inbox,
                call_inbox,
                change_inbox,
                embedder,
                session=session,
                packs=[PACK],
                runner=ToolRunner(project, [PACK], NoMeaning()),
                progress=Progress(),
                folders={} if folder is None else {"docs": folder},
            )
            for event in events:
                outbox.send_nowait(event)
            with ExitStack() as stack:
                stack.callback(writer.close)
                stack.enter_context(nudges)
                for each in (outbox, calls, changes):
                    each.close()
                await writer.run()

    anyio.run(run)


def update(project: Project, database: Path | None = None) -> None:
    """Bring the index in line with the disk, as the service does."""
    database = database or project.database
    database.parent.mkdir(exist_ok=True)
    events = events_of(project, database)
    carried(project, database, events, folder=project.docs_dir)


def contents(database: Path) -> Contents:
    db = open_reader(database)
    try:
        return index_contents(db)
    finally:
        db.close()


def of_fresh(project: Project) -> Contents:
    """What a new index of the same files knows."""
    with tempfile.TemporaryDirectory() as folder:
        update(project, Path(folder, "fresh.db"))
        return contents(Path(folder, "fresh.db"))


class Kept(NamedTuple):
    """What a page does not lose when it is moved."""

    row: tuple[Any, ...]
    sections: tuple[int, ...]

    @property
    def doc_id(self) -> str:
        return str(self.row[0])


def page(project: Project, path: str) -> Kept:
    db = open_reader(project.database)
    found = queries.page_at(db, path)
    sql = "SELECT doc_id, created_at, updated_at FROM docs_page WHERE path = ?"
    [row] = db.execute(sql, (path,)).fetchall()
    rows = tuple(each.id for each in queries.sections(db, found.id))
    db.close()
    return Kept(row, rows)


def paths(project: Project) -> set[str]:
    return {row[0] for row in contents(project.database)["pages"]}


@pytest.fixture
def make(tmp_path: Path) -> Callable[[dict[str, str]], Project]:
    def indexed(pages: dict[str, str]) -> Project:
        write_files(tmp_path / "docs", pages)
        project = vault(tmp_path, {})
        update(project)
        return project

    return indexed


Make = Callable[[dict[str, str]], Project]


def move(project: Project, old: str, new: str) -> None:
    place = project.docs_dir / new
    place.parent.mkdir(parents=True, exist_ok=True)
    (project.docs_dir / old).rename(place)


# -- what is kept ----------------------------------------------------------------------


def test_moved_page_is_the_same_page(make: Make) -> None:
    project = make({"a.md": "# A\n\n## One\n\ntext", "b.md": "# B"})
    before = page(project, "a.md")

    move(project, "a.md", "c/d.md")
    update(project)

    assert page(project, "c/d.md") == before
    assert paths(project) == {"b.md", "c/d.md"}
    assert contents(project.database) == of_fresh(project)


def test_pages_of_a_moved_folder_are_the_same_pages(make: Make) -> None:
    project = make({"a/x.md": "# X", "a/b/y.md": "# Y", "a/b/z.md": "# Z"})
    before = [page(project, path) for path in ("a/x.md", "a/b/y.md", "a/b/z.md")]

    move(project, "a", "n/m")
    update(project)

    after = [page(project, path) for path in ("n/m/x.md", "n/m/b/y.md", "n/m/b/z.md")]
    assert after == before


def test_moved_page_keeps_its_vectors(make: Make) -> None:
    project = make({"a.md": "# A\n\ntext"})
    db = open_writer(project.database)
    model = vectors.aim(db, identity="m@1", name="m", spec="{}", languages=["en"])
    [waiting] = vectors.waiting(db, model, 10)
    vectors.store(db, model.id, [(waiting, np.array([[1.0, 0.0]], np.float32))])
    packed = list(db.execute("SELECT * FROM slot"))

    move(project, "a.md", "b.md")
    update(project)

    assert vectors.waiting(db, model, 10) == []
    assert list(db.execute("SELECT * FROM slot")) == packed
    db.close()


def test_moved_page_keeps_the_state_of_its_sources_it_was_written_for(
    make: Make,
) -> None:
    project = make({"a.md": "---\nsource_refs: [x.py]\n---\n# A"})
    write_files(project.root, {"x.py": "changed since"})

    move(project, "a.md", "b.md")
    update(project)

    assert contents(project.database)["source refs"] == [("b.md", 0, "x.py", "", None)]


def test_page_without_a_title_is_called_by_its_new_path(make: Make) -> None:
    project = make({"a.md": "text", "b.md": "[[a]] [[c/d]]"})

    move(project, "a.md", "c/d.md")
    update(project)

    after = contents(project.database)
    assert ("c/d.md", "c/d") in [row[:2] for row in after["pages"]]
    assert after == of_fresh(project)


def test_link_by_title_leads_to_the_page_of_that_title_that_came_nearer(
    make: Make,
) -> None:
    pages = {"x/one.md": "# Same\n\none", "x/y/two.md": "# Same\n\ntwo"}
    project = make({**pages, "links.md": "[[Same]]"})

    move(project, "x/y/two.md", "two.md")
    update(project)

    after = contents(project.database)
    assert [row[11] for row in after["links"]] == ["two.md"]
    assert after == of_fresh(project)


def test_gone_after_a_rename_is_nothing(make: Make) -> None:
    project = make({"a.md": "# A"})
    before = page(project, "a.md")
    move(project, "a.md", "b.md")

    changed, gone = events_of(project, project.database)
    assert gone == FileGone("docs", "a.md")
    for event in (changed, gone, gone):
        carried(project, project.database, [event], folder=project.docs_dir)

        assert page(project, "b.md") == before
        assert paths(project) == {"b.md"}
        assert [row[1] for row in contents(project.database)["files"]] == ["b.md"]


# -- what is a rename ------------------------------------------------------------------


def test_copy_is_another_page(make: Make) -> None:
    project = make({"a.md": "# A"})
    before = page(project, "a.md")

    write_files(project.docs_dir, {"b.md": "# A"})
    update(project)

    assert page(project, "a.md") == before
    assert page(project, "b.md").doc_id != before.doc_id


def test_file_that_is_moved_and_changed_is_another_page(make: Make) -> None:
    project = make({"a.md": "# A"})
    before = page(project, "a.md")

    move(project, "a.md", "b.md")
    write_files(project.docs_dir, {"b.md": "# A, changed"})
    update(project)

    assert page(project, "b.md").doc_id != before.doc_id


def test_pages_that_exchange_their_texts_stay_where_they_are(make: Make) -> None:
    project = make({"a.md": "# A\n\n[[b]]", "b.md": "# B"})
    before = [page(project, path).doc_id for path in ("a.md", "b.md")]

    move(project, "a.md", "c.md")
    move(project, "b.md", "a.md")
    move(project, "c.md", "b.md")
    update(project)

    assert [page(project, path).doc_id for path in ("a.md", "b.md")] == before
    assert contents(project.database) == of_fresh(project)


def test_of_several_files_that_are_gone_the_one_of_the_same_name_was_moved(
    make: Make,
) -> None:
    project = make(dict.fromkeys(["a/zy.md", "b/y.md", "c/x.md"], "# Same"))
    before = {path: page(project, path) for path in ("a/zy.md", "b/y.md", "c/x.md")}

    move(project, "b/y.md", "n/y.md")
    move(project, "a/zy.md", "n/z.md")
    (project.docs_dir / "c/x.md").unlink()
    update(project)

    assert page(project, "n/y.md") == before["b/y.md"]
    assert page(project, "n/z.md") == before["a/zy.md"]


def test_page_is_renamed_to_one_place_only(make: Make) -> None:
    project = make({"a.md": "# A"})
    before = page(project, "a.md")

    move(project, "a.md", "b.md")
    write_files(project.docs_dir, {"c.md": "# A"})
    update(project)

    assert page(project, "b.md") == before
    assert page(project, "c.md").doc_id != before.doc_id
    assert contents(project.database) == of_fresh(project)


def test_writer_that_knows_no_folder_takes_nothing_for_a_rename(make: Make) -> None:
    project = make({"a.md": "# A"})
    before = page(project, "a.md")
    move(project, "a.md", "b.md")

    events = events_of(project, project.database)
    carried(project, project.database, events, folder=None)

    assert page(project, "b.md").doc_id != before.doc_id
    assert paths(project) == {"b.md"}


def test_while_the_whole_folder_is_gone_nothing_is_a_rename(make: Make) -> None:
    project = make({"a.md": "# A"})
    before = page(project, "a.md")
    write_files(project.docs_dir, {"b.md": "# A"})
    [copied] = events_of(project, project.database)

    project.docs_dir.rename(project.root / "elsewhere")
    carried(project, project.database, [copied], folder=project.root / "docs")

    assert page(project, "a.md") == before
    assert paths(project) == {"a.md", "b.md"}


def test_page_moved_to_where_nothing_could_be_read_is_no_failure(make: Make) -> None:
    project = make({"a.md": "# A [[x|not_a_type]]"})
    before = page(project, "a.md")
    (project.docs_dir / "b.md").write_bytes(b"\xff")
    update(project)
    assert len(contents(project.database)["failures"]) == 1

    (project.docs_dir / "b.md").unlink()
    move(project, "a.md", "b.md")
    update(project)

    assert page(project, "b.md") == before
    assert contents(project.database) == of_fresh(project)


def test_page_that_cannot_be_stored_at_its_new_place_is_not_renamed(make: Make) -> None:
    project = make({"a.md": "# A\n\n[[poison]]"})
    before = page(project, "a.md")
    db = open_writer(project.database)
    db.execute(
        "CREATE TRIGGER poison BEFORE INSERT ON docs_link WHEN new.target = 'poison' "
        "BEGIN SELECT RAISE(ABORT, 'poisoned'); END"
    )
    db.close()
    move(project, "a.md", "b.md")
    [moved, gone] = events_of(project, project.database)

    carried(project, project.database, [moved], folder=project.docs_dir)

    assert page(project, "a.md") == before
    assert [row[1] for row in contents(project.database)["failures"]] == ["b.md"]
    carried(project, project.database, [gone], folder=project.docs_dir)
    assert paths(project) == set()


# -- whatever is moved -----------------------------------------------------------------

PAGES = {
    "index.md": "# Home\n\n[[guide]] [[Setup Guide]] [a](guide/setup.md) [b](/guide/)",
    "guide/index.md": (
        "# The Guide\n\n[up](../index.md) [[setup]] [[../notes]] [s](setup.md) [[/notes]]"
        " [[notes|depends_on]] [[./setup#top]]"
    ),
    "guide/setup.md": (
        "---\ntitle: Setup Guide\ntags: [x]\nsource_refs: [src/a.py]\n---\n\n## Top\n\n"
        "[[index]] [[guide/index|depends_on]] [n](../notes.md#top) [[Notes]] [[The Guide]]"
    ),
    "notes.md": "[[guide/setup]] [x](/guide/setup) [[notes]] [[Same]] [[other|bad_type]]",
    "a/b/deep.md": "# Deep\n\n[[setup]] [r](../../notes.md) [[b/twin]] [[twin]] [[Same]]",
    "a/b/twin.md": "# Same\n\nthe same text, [[notes]] [t](twin.md) [[./twin]]",
    "a/twin.md": "# Same\n\nthe same text, [[notes]] [t](twin.md) [[./twin]]",
    "a/README.md": "# Read me\n\n[[a]] [[b/deep]] [f](/a/b/) [[Setup Guide]] [[guide]]",
    "empty.md": "",
    "a/empty.md": "",
}

_FOLDERS = st.sampled_from(("", "a/", "a/b/", "guide/", "new/", "z/y/"))
_NAMES = st.sampled_from(
    ("index", "README", "setup", "notes", "twin", "deep", "other", "Setup Guide")
)
_PATHS = st.builds("{}{}.md".format, _FOLDERS, _NAMES)
_NUMBERS = st.integers(0, 100)

Step = tuple[str, int, Any]

_STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("move"), _NUMBERS, _PATHS),
    st.tuples(st.just("move"), _NUMBERS, _PATHS),
    st.tuples(st.just("move folder"), _NUMBERS, st.sampled_from(("new", "z/y", "a/n"))),
    st.tuples(st.just("swap"), _NUMBERS, _NUMBERS),
    st.tuples(st.just("copy"), _NUMBERS, _PATHS),
    st.tuples(st.just("delete"), _NUMBERS, st.none()),
    st.tuples(st.just("edit"), _NUMBERS, st.sampled_from(("", "# Notes", "[[setup]]"))),
)


def done(folder: Path, step: Step) -> None:
    """Do to the files what *step* says, if it can be done."""
    what, number, more = step
    if what == "move folder":
        _move_folder(folder, number, more)
        return
    pages = sorted(folder.rglob("*.md"))
    if not pages:
        return
    chosen = pages[number % len(pages)]
    match what:
        case "move" | "copy" if not (folder / more).exists():
            (folder / more).parent.mkdir(parents=True, exist_ok=True)
            if what == "move":
                chosen.rename(folder / more)
            else:
                (folder / more).write_bytes(chosen.read_bytes())
        case "swap":
            other = pages[more % len(pages)]
            texts = other.read_bytes(), chosen.read_bytes()
            chosen.write_bytes(texts[0])
            other.write_bytes(texts[1])
        case "delete":
            chosen.unlink()
        case "edit":
            chosen.write_text(more, encoding="utf-8")
        case _:
            pass


def _move_folder(folder: Path, number: int, to: str) -> None:
    inside = sorted(each for each in folder.rglob("*") if each.is_dir())
    place = folder / to
    if inside and not place.exists():
        chosen = inside[number % len(inside)]
        if not place.is_relative_to(chosen):
            place.parent.mkdir(parents=True, exist_ok=True)
            chosen.rename(place)


@settings(max_examples=40)
@given(
    rounds=st.lists(st.lists(_STEPS, min_size=1, max_size=5), min_size=1, max_size=3)
)
def test_after_any_moves_the_index_is_that_of_the_files(
    rounds: Sequence[Sequence[Step]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write_files(root / "docs", PAGES)
        project = vault(root, {"src/a.py": "x = 1\n"})
        update(project)

        for steps in rounds:
            for step in steps:
                done(root / "docs", step)
            update(project)

        assert contents(project.database) == of_fresh(project)
