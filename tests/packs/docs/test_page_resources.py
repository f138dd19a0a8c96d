"""Pages as resources: what is listed, completed, and called a change."""

import os
from pathlib import Path

import apsw
import pytest
from databases import save, with_pages
from vaults import NOWHERE, page, vault

from ubp.packs.docs import queries, writes
from ubp.packs.docs.completing import completed_path
from ubp.packs.docs.page_resources import RESOURCES, _listed, _time
from ubp.packs.docs.uris import page_uri
from ubp.project import Project
from ubp.resources import ListResources, Resource

PAGES = {
    "b.md": "# Beta",
    "a.md": "# Alpha",
    "guides/ＡＰＩ.md": "# Wide",
    "guides/認証.md": "# 認証",
    "api/Loans.md": "# Loans",
    "specs/loans-api.md": "# Rules",
}


@pytest.fixture
def db() -> apsw.Connection:
    return with_pages(PAGES)


# -- the list --------------------------------------------------------------------------


def test_pages_are_listed_by_path_piece_by_piece(db: apsw.Connection) -> None:
    found: list[Resource] = []
    after = None
    while True:
        part = _listed(db, ListResources(after=after, limit=4), NOWHERE)
        found += part.resources
        if (after := part.next) is None:
            break

    assert [each.name for each in found] == sorted(PAGES)
    assert [each.uri for each in found] == [page_uri(each) for each in sorted(PAGES)]


def test_the_last_piece_says_that_it_is(db: apsw.Connection) -> None:
    assert _listed(db, ListResources(limit=6), NOWHERE).next is None
    assert _listed(db, ListResources(limit=5), NOWHERE).next == "guides/ＡＰＩ.md"
    assert _listed(db, ListResources(after="z", limit=5), NOWHERE).resources == []


def test_a_page_is_listed_with_what_is_known_of_its_file(tmp_path: Path) -> None:
    project = vault(tmp_path, {"docs/a.md": "# Alpha\n"})
    os.utime(tmp_path / "docs/a.md", (86_400, 86_400))
    db = with_pages({"a.md": "# Alpha\n", "gone.md": "# Gone\n"})

    known, gone = _listed(db, ListResources(limit=9), project).resources

    assert known == Resource(
        uri="ubp://docs/a.md",
        name="a.md",
        title="Alpha",
        mime_type="text/markdown",
        size=8,
        last_modified="1970-01-02T00:00:00Z",
    )
    assert (gone.size, gone.last_modified) == (None, None)


@pytest.mark.parametrize("nanoseconds", [10**24, -(10**24)])
def test_a_time_beyond_the_calendar_is_not_known(nanoseconds: int) -> None:
    assert _time(nanoseconds) is None


# -- completion ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("a", ["a.md", "api/Loans.md", "guides/ＡＰＩ.md", "specs/loans-api.md"]),
        ("API", ["api/Loans.md", "guides/ＡＰＩ.md", "specs/loans-api.md"]),
        ("ｌｏａｎｓ", ["api/Loans.md", "specs/loans-api.md"]),
        ("guides/認", ["guides/認証.md"]),
        ("証", ["guides/認証.md"]),
        ("nothing", []),
    ],
)
def test_paths_that_begin_so_come_first_then_names_then_the_rest(
    db: apsw.Connection, typed: str, found: list[str]
) -> None:
    completed = completed_path(db, typed)

    assert completed.values == found
    assert completed.total == len(found)


def test_nothing_typed_is_the_beginning_of_everything(db: apsw.Connection) -> None:
    assert completed_path(db, "").values == sorted(PAGES)


def test_a_hundred_are_enough_and_the_rest_is_counted() -> None:
    db = with_pages({f"{number:03}.md": "" for number in range(120)})

    completed = completed_path(db, ".md")

    assert completed.values == [f"{number:03}.md" for number in range(100)]
    assert completed.total == 120


# -- changes ---------------------------------------------------------------------------

A = page_uri("a.md")


def token(db: apsw.Connection, project: Project = NOWHERE) -> object:
    """What a follower of page a.md compares; None if it is gone."""
    states = RESOURCES.states(db, [A])
    return RESOURCES.token(project, states[A]) if states else None


def test_an_edit_is_a_change(db: apsw.Connection) -> None:
    before = token(db)

    save(db, "a.md", "# Other")

    assert token(db) != before


def test_an_edit_that_is_undone_between_two_looks_is_a_change(
    db: apsw.Connection,
) -> None:
    before = token(db)

    save(db, "a.md", "# Other")
    save(db, "a.md", PAGES["a.md"])

    assert token(db) != before


def test_a_page_that_is_read_again_and_is_the_same_has_not_changed(
    db: apsw.Connection,
) -> None:
    before = token(db)

    save(db, "a.md", PAGES["a.md"])
    save(db, "b.md", "# Other")

    assert token(db) == before


def test_a_page_that_goes_and_comes_back_has_changed(db: apsw.Connection) -> None:
    before = token(db)

    writes.forget(db, "a.md")
    assert token(db) is None
    save(db, "a.md", PAGES["a.md"])

    assert token(db) not in (None, before)


def test_a_source_that_changes_changes_the_page_that_names_it(tmp_path: Path) -> None:
    text = "---\nsource_refs: [a.py, b.py]\n---\n"
    project = vault(tmp_path, {"a.py": "a", "b.py": "b"})
    db = with_pages({})
    writes.save(db, "a.md", "digest", page(text, "a.md", project))
    seen = [token(db, project)]

    (tmp_path / "a.py").write_text("another", encoding="utf-8")
    seen.append(token(db, project))
    (tmp_path / "b.py").write_text("another", encoding="utf-8")
    seen.append(token(db, project))
    (tmp_path / "b.py").unlink()
    seen.append(token(db, project))
    assert len(set(seen)) == 4

    (tmp_path / "a.py").write_text("a", encoding="utf-8")
    (tmp_path / "b.py").write_text("b", encoding="utf-8")
    assert token(db, project) == seen[0]


def test_two_uris_of_a_page_are_told_apart_and_followed_alike(
    db: apsw.Connection,
) -> None:
    states = RESOURCES.states(db, [A, "ubp://docs/%61.md", "ubp://docs/%.md", "x"])

    assert states.keys() == {A, "ubp://docs/%61.md"}
    assert len(set(states.values())) == 1


def test_the_list_is_another_when_pages_come_or_go(db: apsw.Connection) -> None:
    seen = [queries.list_token(db)]
    save(db, "new.md", "")
    seen.append(queries.list_token(db))
    writes.forget(db, "new.md")
    save(db, "newer.md", "")
    seen.append(queries.list_token(db))
    assert len(set(seen)) == 3

    save(db, "a.md", "# Other")
    assert queries.list_token(db) == seen[-1]
    writes.forget(db, "newer.md")
    assert queries.list_token(db) == seen[0]


def test_a_page_that_is_moved_goes_here_and_comes_there(db: apsw.Connection) -> None:
    before = queries.list_token(db)

    writes.rename(db, "a.md", "moved.md")

    assert queries.list_token(db) != before
    assert token(db) is None
    assert RESOURCES.states(db, [page_uri("moved.md")])
