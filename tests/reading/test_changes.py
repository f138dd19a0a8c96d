"""What differs between disk and index."""

from ubp.messages import FileChanged, FileGone, FileStamp, Known, ParseFailed
from ubp.reading.changes import differences
from ubp.reading.walk import Found, Refused

OLD = FileStamp(10, 1, 1)
NEW = FileStamp(20, 2, 2)


def test_new_file_is_a_change_without_a_digest() -> None:
    events = list(differences("docs", [Found("a.md", NEW)], {}))

    assert events == [FileChanged("docs", "a.md", NEW)]


def test_file_with_the_stamp_of_the_index_is_no_event() -> None:
    known = {"a.md": Known(OLD, "digest")}

    assert list(differences("docs", [Found("a.md", OLD)], known)) == []


def test_file_with_another_stamp_is_a_change_from_a_known_digest() -> None:
    known = {"a.md": Known(OLD, "digest")}

    events = list(differences("docs", [Found("a.md", NEW)], known))

    assert events == [FileChanged("docs", "a.md", NEW, "digest")]


def test_same_size_and_times_but_another_change_time_is_a_change() -> None:
    known = {"a.md": Known(OLD, "digest")}
    touched = FileStamp(OLD.size, OLD.mtime_ns, OLD.ctime_ns + 1)

    events = list(differences("docs", [Found("a.md", touched)], known))

    assert events == [FileChanged("docs", "a.md", touched, "digest")]


def test_file_that_failed_is_not_tried_again_until_it_changes() -> None:
    known = {"a.md": Known(OLD, None)}

    assert list(differences("docs", [Found("a.md", OLD)], known)) == []
    assert list(differences("docs", [Found("a.md", NEW)], known)) == [
        FileChanged("docs", "a.md", NEW, None)
    ]


def test_file_whose_failure_has_no_stamp_is_tried_again() -> None:
    known = {"a.md": Known(None, None)}

    events = list(differences("docs", [Found("a.md", OLD)], known))

    assert events == [FileChanged("docs", "a.md", OLD)]


def test_file_that_is_no_longer_found_is_gone() -> None:
    known = {"a.md": Known(OLD, "digest"), "b.md": Known(OLD, "digest")}

    events = list(differences("docs", [Found("b.md", OLD)], known))

    assert events == [FileGone("docs", "a.md")]


def test_refused_file_is_a_failure_and_not_gone_as_well() -> None:
    known = {"a.md": Known(OLD, "digest")}

    events = list(differences("docs", [Refused("a.md", "No.")], known))

    assert events == [ParseFailed("docs", "a.md", "No.")]


def test_force_reads_every_file_whatever_the_index_says() -> None:
    known = {"a.md": Known(OLD, "digest")}

    events = list(differences("docs", [Found("a.md", OLD)], known, force=True))

    assert events == [FileChanged("docs", "a.md", OLD, reset=True)]


def test_another_way_of_reading_reads_every_file_but_resets_nothing() -> None:
    known = {"a.md": Known(OLD, "digest")}

    events = list(differences("docs", [Found("a.md", OLD)], known, reread=True))

    assert events == [FileChanged("docs", "a.md", OLD)]


def test_file_that_was_refused_before_is_no_event() -> None:
    known = {"a.md": Known(None, None)}

    assert list(differences("docs", [Refused("a.md", "No.")], known)) == []
    assert list(differences("docs", [Refused("a.md", "No.")], known, force=True)) == [
        ParseFailed("docs", "a.md", "No.")
    ]


def test_files_of_a_folder_that_cannot_be_looked_into_are_not_gone() -> None:
    known = dict.fromkeys(["a/b.md", "a/c/d.md", "ab.md", "e.md"], Known(OLD, "digest"))

    events = list(differences("docs", [Refused("a", "No.", folder=True)], known))

    assert events == [
        ParseFailed("docs", "a", "No."),
        FileGone("docs", "ab.md"),
        FileGone("docs", "e.md"),
    ]


def test_no_file_is_gone_while_the_whole_folder_is_missing() -> None:
    known = {"a.md": Known(OLD, "digest")}

    events = list(differences("docs", [Refused("", "No.", folder=True)], known))

    assert events == [ParseFailed("docs", "", "No.")]
