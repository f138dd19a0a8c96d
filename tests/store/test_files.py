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

    files.touch(db, "docs", "a.md", LATER)

    assert files.known(db, "docs") == {"a.md": Known(LATER, "digest")}
    assert len(files.warnings(db)) == 1


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
