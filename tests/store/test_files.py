"""What the index knows of each file a pack reads, or could not read."""

from databases import fresh

from ubp.messages import FileStamp, Known, Warned
from ubp.store import files
from ubp.store.files import Failure, Noted

STAMP = FileStamp(1, 2, 3)
LATER = FileStamp(4, 5, 6)


def test_remembered_file_is_known_by_stamp_and_digest() -> None:
    db = fresh()

    files.remember(db, "docs", "a.md", STAMP, "digest", [])

    assert files.known(db, "docs") == {"a.md": Known(STAMP, "digest")}


def test_each_pack_knows_its_own_files() -> None:
    db = fresh()

    files.remember(db, "docs", "a.md", STAMP, "one", [])
    files.remember(db, "notes", "a.md", LATER, "two", [])

    assert files.known(db, "docs") == {"a.md": Known(STAMP, "one")}
    assert files.known(db, "notes") == {"a.md": Known(LATER, "two")}


def test_remembering_again_replaces_what_was_known() -> None:
    db = fresh()
    files.remember(db, "docs", "a.md", STAMP, "old", [Warned("old", "Old.")])

    files.remember(db, "docs", "a.md", LATER, "new", [Warned("new", "New.")])

    assert files.known(db, "docs") == {"a.md": Known(LATER, "new")}
    assert files.warnings(db) == [Noted("docs", "a.md", "new", "New.")]


def test_touched_file_keeps_its_digest() -> None:
    db = fresh()
    files.remember(db, "docs", "a.md", STAMP, "digest", [Warned("w", "W.")])

    files.touch(db, "docs", "a.md", LATER, "digest")

    assert files.known(db, "docs") == {"a.md": Known(LATER, "digest")}
    assert len(files.warnings(db)) == 1


def test_a_file_of_other_content_is_not_touched() -> None:
    """Or it would pass for what is on disk, and never be read again."""
    db = fresh()
    files.remember(db, "docs", "a.md", STAMP, "digest", [])

    files.touch(db, "docs", "a.md", LATER, "another")

    assert files.known(db, "docs") == {"a.md": Known(STAMP, "digest")}


def test_failed_file_is_known_without_a_digest() -> None:
    db = fresh()
    files.remember(db, "docs", "a.md", STAMP, "digest", [Warned("w", "W.")])

    files.fail(db, "docs", "a.md", "Not UTF-8.", LATER)

    assert files.known(db, "docs") == {"a.md": Known(LATER, None)}
    assert files.warnings(db) == []
    [failure] = files.failures(db)
    assert failure == Failure("docs", "a.md", "Not UTF-8.", failure.at)


def test_failure_may_have_no_stamp() -> None:
    db = fresh()

    files.fail(db, "docs", "a.md", "A pipe.", None)

    assert files.known(db, "docs") == {"a.md": Known(None, None)}


def test_file_that_can_be_read_again_is_no_failure_any_more() -> None:
    db = fresh()
    files.fail(db, "docs", "a.md", "Not UTF-8.", STAMP)

    files.remember(db, "docs", "a.md", LATER, "digest", [])

    assert files.failures(db) == []
    assert files.known(db, "docs") == {"a.md": Known(LATER, "digest")}


def test_forgotten_file_leaves_nothing_behind() -> None:
    db = fresh()
    files.remember(db, "docs", "a.md", STAMP, "digest", [Warned("w", "W.")])
    files.fail(db, "docs", "b.md", "Not UTF-8.", STAMP)

    files.forget(db, "docs", "a.md")
    files.forget(db, "docs", "b.md")
    files.forget(db, "docs", "never seen.md")

    assert files.known(db, "docs") == {}
    assert files.failures(db) == []
    assert files.warnings(db) == []


def test_warnings_are_in_the_order_they_were_given() -> None:
    db = fresh()
    given = [Warned("z", "First."), Warned("a", "Second."), Warned("z", "First.")]

    files.remember(db, "docs", "b.md", STAMP, "digest", given)
    files.remember(db, "docs", "a.md", STAMP, "digest", [Warned("m", "Other.")])

    assert files.warnings(db) == [
        Noted("docs", "a.md", "m", "Other."),
        Noted("docs", "b.md", "z", "First."),
        Noted("docs", "b.md", "a", "Second."),
        Noted("docs", "b.md", "z", "First."),
    ]


# -- moved -----------------------------------------------------------------------------


def test_renamed_file_is_known_at_its_new_path_with_its_warnings() -> None:
    db = fresh()
    files.remember(db, "docs", "a.md", STAMP, "digest", [Warned("w", "W.")])
    files.remember(db, "notes", "a.md", STAMP, "digest", [])
    files.fail(db, "docs", "b.md", "Not UTF-8.", LATER)

    files.rename(db, "docs", "a.md", "b.md")

    assert files.known(db, "docs") == {"b.md": Known(STAMP, "digest")}
    assert files.known(db, "notes") == {"a.md": Known(STAMP, "digest")}
    assert files.warnings(db) == [Noted("docs", "b.md", "w", "W.")]
    assert files.failures(db) == []


def test_renaming_what_is_not_there_is_nothing() -> None:
    db = fresh()

    files.rename(db, "docs", "a.md", "b.md")

    assert files.known(db, "docs") == {}


def test_files_of_the_same_content_are_those_of_the_same_name_and_then_by_path() -> (
    None
):
    db = fresh()
    for path in ("b/y.md", "a.md", "y.md", "c/xy.md"):
        files.remember(db, "docs", path, STAMP, "same", [])
    files.remember(db, "docs", "d/y.md", STAMP, "other", [])
    files.remember(db, "notes", "n/y.md", STAMP, "same", [])

    found = files.same_content(db, "docs", "new/y.md", "same")

    assert found == ["b/y.md", "y.md", "a.md", "c/xy.md"]


def test_file_that_is_known_has_none_of_the_same_content() -> None:
    db = fresh()
    for path in ("a.md", "b.md"):
        files.remember(db, "docs", path, STAMP, "same", [])

    assert files.same_content(db, "docs", "a.md", "same") == []


def test_of_very_many_files_of_the_same_content_some_are_enough() -> None:
    db = fresh()
    for number in range(200):
        files.remember(db, "docs", f"{number}.md", STAMP, "empty", [])

    found = files.same_content(db, "docs", "new/199.md", "empty")

    assert len(found) < 100
    assert found[0] == "199.md"


def test_content_is_looked_for_by_an_index() -> None:
    """A new project brings every file as one that is not known yet."""
    db = fresh()

    asked = {"pack": "", "path": "", "digest": "", "name": "", "most": 1, "sorted": 1}
    plan = db.execute(f"EXPLAIN QUERY PLAN {files._SAME_CONTENT}", asked)

    steps = " ".join(row[3] for row in plan)
    assert "file_by_digest (digest=? AND pack=?)" in steps
    assert "SCAN file" not in steps


# -- at a place ------------------------------------------------------------------------


def test_files_at_a_place_are_it_and_all_below_and_nothing_that_begins_alike() -> None:
    db = fresh()
    paths = ("a", "a/b.md", "a/b/c.md", "a.md", "a-b.md", "a0", "ab/c.md", "b/a/x.md")
    for path in paths:
        files.remember(db, "docs", path, STAMP, "digest", [])
        files.fail(db, "docs", f"{path}/bad", "Not UTF-8.", LATER)
        files.remember(db, "notes", path, STAMP, "digest", [])

    def below(*places: str) -> set[str]:
        found = files.known_below(db, "docs", places)
        assert all(found[path] == files.known(db, "docs")[path] for path in found)
        assert all(found[path] == files.known_at(db, "docs", path) for path in found)
        return {path for path in found if not path.endswith("/bad")}

    assert below("a") == {"a", "a/b.md", "a/b/c.md"}
    assert below("a/b", "b") == {"a/b/c.md", "b/a/x.md"}
    assert below("a", "a/b.md", "nowhere") == below("a")
    assert below("a/b.md/bad") == below() == set()
    assert "a/b.md/bad" in files.known_below(db, "docs", ["a/b.md"])
    assert below("") == set(paths)
    assert files.known_at(db, "docs", "nowhere") is None


def test_a_place_is_looked_for_without_looking_at_all_others() -> None:
    """It is asked for every file that is stored."""
    db = fresh()

    asked = {"pack": "", "places": "[]"}
    plan = db.execute(f"EXPLAIN QUERY PLAN {files._KNOWN_BELOW}", asked)

    found = [row[3] for row in plan if "met" in row[3]]
    assert len(found) == 4
    assert all("pack=? AND path" in step for step in found), found
