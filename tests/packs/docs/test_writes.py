"""Storing pages: what comes in pieces ends up as if it had come at once."""

import unicodedata
from collections.abc import Mapping, Sequence

import apsw
import msgspec
from databases import fresh, save, with_pages
from hypothesis import given, settings
from hypothesis import strategies as st
from vaults import page

from ubp.packs.docs import queries, writes
from ubp.packs.docs.text_index import SECTION_WORDS, SECTIONS
from ubp.store.some_words import terms

LONG = "word " * 40

_LINKS = """
    SELECT source.path, link.target, link.style, link.type, target.path,
           link.hidden, link.ambiguous
      FROM docs_link AS link JOIN docs_page AS source ON source.id = link.source_id
      LEFT JOIN docs_page AS target ON target.id = link.target_id
     ORDER BY source.path, link.id
"""


def all_links(db: apsw.Connection) -> list[tuple[object, ...]]:
    return list(db.execute(_LINKS))


def shown(db: apsw.Connection) -> list[tuple[str, str, str | None]]:
    """Source, type and target of every link that is not hidden."""
    return [
        (source, type_, target)
        for source, _, _, type_, target, hidden, _ in db.execute(_LINKS)
        if not hidden
    ]


def section_rows(db: apsw.Connection, path: str) -> list[int]:
    return [each.id for each in queries.sections(db, queries.page_at(db, path).id)]


# -- pages -----------------------------------------------------------------------------


def test_page_keeps_its_id_and_creation_while_its_text_changes() -> None:
    db = with_pages({"a.md": "old"})
    [before] = db.execute("SELECT doc_id, created_at, updated_at FROM docs_page")

    save(db, "a.md", "new")

    [after] = db.execute("SELECT doc_id, created_at, updated_at FROM docs_page")
    assert after[:2] == before[:2]
    assert after[2] > before[2]


def test_page_read_again_unchanged_is_not_updated() -> None:
    db = with_pages({"a.md": "same"})
    [before] = db.execute("SELECT updated_at FROM docs_page")

    save(db, "a.md", "same")

    assert list(db.execute("SELECT updated_at FROM docs_page")) == [before]


def test_title_type_and_tags_follow_the_text() -> None:
    db = with_pages({"a.md": "---\ndoc_type: adr\ntags: [x]\n---\n# Old"})

    save(db, "a.md", "---\ndoc_type: spec\n---\n# New")

    rows = db.execute("SELECT title, doc_type, tags FROM docs_page")
    assert list(rows) == [("New", "spec", "[]")]


def test_section_keeps_its_id_by_position() -> None:
    db = with_pages({"a.md": f"## A\n\n{LONG}\n\n## B\n\n{LONG}"})
    before = section_rows(db, "a.md")

    save(db, "a.md", f"## A2\n\n{LONG}\n\n## B\n\n{LONG} more\n\n## C\n\n{LONG}")

    after = section_rows(db, "a.md")
    assert after[:2] == before
    assert len(after) == 3


def test_sections_no_longer_there_are_removed_and_not_found() -> None:
    db = with_pages({"a.md": f"## A\n\n{LONG}\n\n## Unique\n\n{LONG}"})

    save(db, "a.md", f"## A\n\n{LONG}")

    assert len(section_rows(db, "a.md")) == 1
    assert SECTIONS.search(db, "unique").rows == set()


def test_heading_that_changes_alone_is_stored_and_found() -> None:
    db = with_pages({"a.md": f"## Before\n\n{LONG}"})

    save(db, "a.md", f"## Behind\n\n{LONG}")

    assert SECTIONS.search(db, "before").rows == set()
    assert SECTIONS.search(db, "behind").rows == set(section_rows(db, "a.md"))


def test_level_that_changes_alone_is_stored() -> None:
    db = with_pages({"a.md": f"## A\n\n{LONG}\n\n## B\n\n{LONG}"})

    save(db, "a.md", f"## A\n\n{LONG}\n\n### B\n\n{LONG}")

    rows = db.execute("SELECT level, heading_path FROM docs_section ORDER BY ordinal")
    assert list(rows) == [(2, "A"), (3, "A › B")]


def test_forgotten_page_leaves_nothing_behind() -> None:
    db = with_pages({"a.md": "---\nsource_refs: [x.py]\n---\nalpha [[b]]"})

    writes.forget(db, "a.md")
    writes.settle(db)

    for table in ("page", "section", "link", "source_ref", "unsettled_name"):
        assert list(db.execute(f"SELECT * FROM docs_{table}")) == []  # noqa: S608
    assert SECTIONS.search(db, "alpha").rows == set()


def test_forgetting_what_is_not_there_is_nothing() -> None:
    db = with_pages({"a.md": "text"})

    writes.forget(db, "b.md")

    assert queries.counts(db).pages == 1


def test_page_that_comes_again_is_a_new_page() -> None:
    db = with_pages({"a.md": "text"})
    before = queries.page_at(db, "a.md").doc_id
    writes.forget(db, "a.md")

    save(db, "a.md", "text")

    assert queries.page_at(db, "a.md").doc_id != before


def test_renamed_page_keeps_its_row_and_links_to_it_until_they_are_settled() -> None:
    db = with_pages({"a.md": "# Title", "b.md": "[[a]]"})
    before = queries.page_at(db, "a.md")

    writes.rename(db, "a.md", "c/d.md")

    after = queries.page_at(db, "c/d.md")
    assert (after.id, after.doc_id) == (before.id, before.doc_id)
    assert shown(db) == [("b.md", "references", "c/d.md")]
    writes.settle(db)
    assert shown(db) == [("b.md", "references", None)]


def test_link_that_led_nowhere_finds_the_page_that_was_renamed() -> None:
    db = with_pages({"a.md": "text", "b.md": "[[d]] [x](/c/)"})

    writes.rename(db, "a.md", "c/index.md")
    writes.settle(db)

    assert [target for _, _, target in shown(db)] == [None, "c/index.md"]


def test_renaming_what_is_not_there_is_nothing() -> None:
    db = with_pages({"a.md": "text"})

    writes.rename(db, "b.md", "c.md")

    assert queries.page_at(db, "a.md").path == "a.md"


def test_sources_of_a_page_are_stored_in_their_order() -> None:
    db = with_pages({"a.md": "---\nsource_refs: [b.py, a.py]\n---\n"})
    page = queries.page_at(db, "a.md").id

    refs = queries.source_refs(db, [page])[page]

    assert [(ref.path, ref.digest, ref.stamp) for ref in refs] == [
        ("b.py", "", None),
        ("a.py", "", None),
    ]


# -- links -----------------------------------------------------------------------------


def test_link_to_a_page_that_is_read_later_resolves() -> None:
    db = with_pages({"a.md": "[[z]]", "z.md": ""})

    assert shown(db) == [("a.md", "references", "z.md")]


def test_dangling_links_of_one_type_are_all_counted() -> None:
    db = with_pages({"a.md": "[[x]] [[y]] [[X]] [z](z.md)"})

    assert shown(db) == [("a.md", "references", None)] * 3
    assert queries.counts(db).links == 3
    assert queries.counts(db).resolved == 0


def test_dangling_link_resolves_when_its_page_appears() -> None:
    db = with_pages({"a.md": "[[z]]"})

    save(db, "deep/z.md", "")
    writes.settle(db)

    assert shown(db) == [("a.md", "references", "deep/z.md")]


def test_link_dangles_again_when_its_page_disappears() -> None:
    db = with_pages({"a.md": "[[z]]", "z.md": ""})

    writes.forget(db, "z.md")
    writes.settle(db)

    assert shown(db) == [("a.md", "references", None)]


def test_link_follows_a_title_that_changes() -> None:
    db = with_pages({"a.md": "[[The Plan]]", "x.md": "# The Plan", "y.md": "# Other"})
    assert shown(db) == [("a.md", "references", "x.md")]

    save(db, "x.md", "# Old plan")
    save(db, "y.md", "# The Plan")
    writes.settle(db)

    assert shown(db) == [("a.md", "references", "y.md")]


def test_link_moves_to_a_better_page_that_appears() -> None:
    db = with_pages({"g/a.md": "[[z]]", "x/z.md": ""})

    save(db, "g/z.md", "")
    writes.settle(db)

    assert shown(db) == [("g/a.md", "references", "g/z.md")]


def test_saving_a_page_again_creates_no_ambiguity() -> None:
    db = with_pages({"a.md": "[[z]]", "z.md": ""})

    save(db, "z.md", "")
    save(db, "z.md", "changed")
    writes.settle(db)

    assert all_links(db) == [("a.md", "z", "wiki", "references", "z.md", 0, 0)]


def test_page_of_the_same_name_makes_a_link_ambiguous() -> None:
    db = with_pages({"a.md": "[[z]]", "x/z.md": ""})

    save(db, "y/z.md", "")
    writes.settle(db)

    assert all_links(db) == [("a.md", "z", "wiki", "references", "x/z.md", 0, 1)]


def test_link_is_no_longer_ambiguous_when_the_other_page_goes() -> None:
    db = with_pages({"a.md": "[[z]]", "x/z.md": "", "y/z.md": ""})

    writes.forget(db, "y/z.md")
    writes.settle(db)

    assert all_links(db) == [("a.md", "z", "wiki", "references", "x/z.md", 0, 0)]


def test_title_with_a_slash_is_found_when_it_appears() -> None:
    db = with_pages({"a.md": "[[TCP/IP]]"})

    save(db, "net.md", "# TCP/IP")
    writes.settle(db)

    assert shown(db) == [("a.md", "references", "net.md")]


def test_second_link_to_the_same_page_is_hidden() -> None:
    db = with_pages({"a.md": "[[z]] [[x/z]] [[x/z|extends]]", "x/z.md": ""})

    assert shown(db) == [
        ("a.md", "references", "x/z.md"),
        ("a.md", "extends", "x/z.md"),
    ]


def test_markdown_link_is_hidden_beside_a_wikilink_to_its_page() -> None:
    db = with_pages({"a.md": "[x](x/z.md) [[z|depends_on]]", "x/z.md": ""})

    assert shown(db) == [("a.md", "depends_on", "x/z.md")]


def test_site_link_that_leads_nowhere_is_hidden_until_it_does() -> None:
    db = with_pages({"a.md": "[x](/b/)"})
    assert shown(db) == []

    save(db, "b/index.md", "")
    writes.settle(db)

    assert shown(db) == [("a.md", "references", "b/index.md")]


def test_nfc_link_finds_nfd_page() -> None:
    path = unicodedata.normalize("NFD", "ガイド.md")
    db = with_pages({"a.md": "[[ガイド]] [x](ガイド.md)", path: ""})

    assert shown(db) == [("a.md", "references", path)]


def test_nothing_is_settled_twice() -> None:
    db = with_pages({"a.md": "[[z]] [[missing]]", "z.md": ""})
    before = db.total_changes()

    writes.settle(db)

    assert db.total_changes() == before


def test_tidying_keeps_everything_findable() -> None:
    db = with_pages({"a.md": "alpha", "b.md": "beta"})
    writes.forget(db, "a.md")

    writes.optimize(db)

    assert SECTIONS.search(db, "alpha").rows == set()
    assert len(SECTIONS.search(db, "beta").rows) == 1


# -- incremental equals fresh ----------------------------------------------------------

PATHS = """
    a.md b.md A.md x.md index.md 設計.md x/a.md x/b.md x/y.md x/index.md x/_index.md
    x/README.md x/y/a.md x/y/index.md
"""

LINKS = """
    [[a]] [[A.md]] [[b|extends]] [[x]] [[x/a]] [[x/a|depends_on]] [[y/a]] [[./b]]
    [[../a]] [[/x/a]] [[x/y/a]] [[index]] [[one]] [[Two|implements]] [[x/one]]
    [[設計]] [[a#part]] [[missing]] [[readme]] [[y/..]] [[x/./a]] [[x/../b]] [[x/]]
    [l](a.md) [l](b.md) [l](x/a.md) [l](../a.md) [l](./y/a.md) [l](設計.md)
    [l](/x/) [l](/x) [l](/x/y/) [l](/a) [l](/b) [l](/index) [l](/x/a.md) [l](/missing)
"""

TITLES = ("", "# One", "# Two", "# a", "# x/one", "# Index", "# README.md")

Step = tuple[str, str | None]
"""A path, and its new text, or None if the page goes."""


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """Pages that come, change and go, with links among a handful of names."""
    paths = draw(st.lists(st.sampled_from(PATHS.split()), min_size=2, max_size=5))
    links = draw(st.lists(st.sampled_from(LINKS.split()), min_size=2, max_size=5))
    texts_ = st.builds(
        lambda title, links: f"{title}\n\n{' '.join(links)}",
        st.sampled_from(TITLES),
        st.lists(st.sampled_from(links), max_size=4),
    )
    step = st.tuples(st.sampled_from(paths), st.none() | texts_)
    return draw(st.lists(step, max_size=12))


def replayed(history: Sequence[Step], settle_after: Sequence[bool]) -> apsw.Connection:
    """A database that saw every step, and was settled now and then."""
    db = fresh()
    for (path, text), settle in zip(history, settle_after, strict=True):
        if text is None:
            writes.forget(db, path)
        else:
            save(db, path, text)
        if settle:
            writes.settle(db)
    writes.settle(db)
    return db


def final(history: Sequence[Step]) -> dict[str, str]:
    pages = dict(history)
    return {path: text for path, text in pages.items() if text is not None}


@settings(max_examples=2 * settings().max_examples)
@given(histories(), st.data())
def test_links_after_any_history_are_those_of_the_last_state(
    history: list[Step], data: st.DataObject
) -> None:
    settle_after = data.draw(
        st.lists(st.booleans(), min_size=len(history), max_size=len(history))
    )
    pages = final(history)
    order = data.draw(st.permutations(sorted(pages)))

    db = replayed(history, settle_after)

    at_once = with_pages({path: pages[path] for path in order})
    assert all_links(db) == all_links(at_once)


def found(db: apsw.Connection, query: str) -> set[tuple[str, int]]:
    """Path and position of the sections that contain *query*."""
    rows = SECTIONS.search(db, query).rows
    sections = db.execute(
        "SELECT s.id, path, ordinal"
        "  FROM docs_section AS s JOIN docs_page AS p ON p.id = s.page_id"
    )
    return {(path, ordinal) for row, path, ordinal in sections if row in rows}


texts = st.lists(
    st.sampled_from(
        (f"## Alpha\n\n{LONG}", f"## Beta\n\n{LONG}", "alpha beta", "認証", "x" * 70)
    ),
    max_size=4,
).map("\n\n".join)


def contents(db: apsw.Connection) -> Mapping[tuple[str, int], str]:
    rows = db.execute(
        "SELECT path, ordinal, coalesce(heading, '') || char(10) || content"
        "  FROM docs_section JOIN docs_page ON docs_page.id = page_id"
    )
    return {(path, ordinal): text for path, ordinal, text in rows}


@given(
    st.lists(
        st.tuples(st.sampled_from(("a.md", "b.md")), st.none() | texts), max_size=8
    )
)
def test_text_after_any_history_is_that_of_the_last_state(history: list[Step]) -> None:
    db = replayed(history, [False] * len(history))

    at_once = with_pages(final(history))
    assert contents(db) == contents(at_once)
    for query in ("alpha", "beta", "alp", "証", "word", "xx"):
        assert found(db, query) == found(at_once, query)


def test_thousands_of_links_are_settled_in_bounded_steps() -> None:
    db = fresh()
    for number in range(1_200):
        save(db, f"d{number}/index.md", "[[index]] [[d7/index]]")

    steps = 1
    while writes.settle(db):
        steps += 1

    assert steps == 3
    sql = """
        SELECT count(*) FROM docs_link AS link
          JOIN docs_page AS source ON source.id = link.source_id
         WHERE link.target = 'index' AND link.target_id = source.id
    """
    assert db.execute(sql).get == 1_200, "each means the page in its own folder"


def test_page_that_is_read_again_unchanged_gets_new_words_in_the_index() -> None:
    """A new reader writes the same text out in other words; they must replace the old."""
    db = with_pages({"a.md": "## Part\n\nalpha"})
    record = page("## Part\n\nalpha", "a.md")
    [section] = record.sections
    other = msgspec.structs.replace(section, index_content="beta")
    reread = msgspec.structs.replace(record, sections=(other,), words="beta")
    digest: str = db.execute("SELECT digest FROM docs_page").get

    writes.save(db, "a.md", digest, reread)

    assert SECTION_WORDS.weighed(db, terms("alpha"), 10) == []
    assert len(SECTION_WORDS.weighed(db, terms("beta"), 10)) == 1
