"""A file's text becomes what the docs pack stores of it."""

import hashlib
import json
import os
from pathlib import Path

import msgspec
import pytest
from databases import fresh
from hypothesis import given
from strategies import anything, documents, front_matter, page_paths
from vaults import page, page_and_warnings, vault

from ubp import lexicon
from ubp.packs.docs import writes
from ubp.packs.docs.kinds import DOC_TYPES
from ubp.packs.docs.records import PageRecord, SourceRef, digest_of
from ubp.reading.walk import stamp_of


def kinds(text: str) -> list[str]:
    return [warning.kind for warning in page_and_warnings(text)[1]]


# -- title -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From above\n---\n# From below", "From above"),
        ("---\ntitle: '  two\n  lines  '\n---\n", "two lines"),
        ("---\ntitle: 123\n---\n# The H1", "The H1"),
        ("---\ntitle: ' '\n---\n# The H1", "The H1"),
        ("---\ntitle: [a]\n---\n", "docs/guides/setup"),
        ("## Not this\n\n# The *first* H1\n\n# Second", "The first H1"),
        ("#\n\n# The next", "The next"),
        ("> # Quoted", "docs/guides/setup"),
        ("", "docs/guides/setup"),
    ],
)
def test_title_is_the_front_matters_or_the_first_h1_or_the_path(
    text: str, title: str
) -> None:
    assert page(text, "docs/guides/setup.md").title == title


def test_pages_of_one_name_in_several_folders_have_distinct_titles() -> None:
    paths = ["page.md", "a/page.md", "a/b/page.md", "日本/page.md"]

    assert len({page("", path).title for path in paths}) == 4


# -- front matter ----------------------------------------------------------------------


@pytest.mark.parametrize("doc_type", DOC_TYPES)
def test_every_doc_type_is_kept(doc_type: str) -> None:
    text = f"---\ndoc_type: {doc_type}\n---\n"

    assert page(text).doc_type == doc_type
    assert kinds(text) == []


def test_doc_type_absent_is_other_without_a_warning() -> None:
    assert page("---\ntitle: a\n---\n").doc_type == "other"
    assert page("---\ndoc_type:\n---\n").doc_type == "other"
    assert kinds("---\ndoc_type: ~\n---\n") == []


@pytest.mark.parametrize("given", ["novel", "Spec", "''", "[spec]", "0", "{a: b}"])
def test_doc_type_unknown_is_other_with_a_warning(given: str) -> None:
    text = f"---\ndoc_type: {given}\n---\n"

    assert page(text).doc_type == "other"
    assert kinds(text) == ["unknown_doc_type"]


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[a, b]", ("a", "b")),
        ("[' a ', '#b', a, '', ~, 3]", ("a", "b", "3")),
        ("a, b c", ("a", "b c")),
        ("b c", ("b", "c")),
        ("'#設計'", ("設計",)),
        ("{a: b}", ()),
        ("7", ("7",)),
        ("", ()),
    ],
)
def test_tags_are_a_list_or_words(written: str, tags: tuple[str, ...]) -> None:
    assert page(f"---\ntags: {written}\n---\n").tags == tags


def test_all_front_matter_is_kept_as_json() -> None:
    record = page("---\ntitle: a\nowner: {name: b, since: 2024-01-02}\n---\n")

    assert json.loads(record.front_matter) == {
        "title": "a",
        "owner": {"name": "b", "since": "2024-01-02"},
    }


@pytest.mark.parametrize("block", ["title: [", "- a", "a: !!bool b"])
def test_page_with_broken_front_matter_is_a_page_all_the_same(block: str) -> None:
    record, warnings = page_and_warnings(f"---\n{block}\n---\n# Title\n\ntext")

    assert record.title == "Title"
    assert [section.content for section in record.sections] == ["Title\n\ntext"]
    assert [warning.kind for warning in warnings] == ["invalid_frontmatter"]


def test_front_matter_is_in_no_section() -> None:
    record = page("---\ntitle: above\nsecret: word\n---\n\nbody")

    assert [section.content for section in record.sections] == ["body"]


# -- sections --------------------------------------------------------------------------

LONG = "word " * 40


def test_section_has_what_is_stored_and_what_is_indexed() -> None:
    record = page(f"## Parent\n\n{LONG}\n\n### C++ の設計\n\n{LONG}ＡＰＩ")

    section = record.sections[1]
    assert section.heading == "C++ の設計"
    assert section.heading_path == "Parent › C++ の設計"
    assert (section.level, section.continued) == (3, False)
    assert section.tokens == 54  # 41 words, of which one is full-width
    assert section.folded == f"c++ の設計\n{LONG}api"
    [sign] = lexicon.names("c++")
    assert section.index_heading.split() == ["c", "の設", "設計", "計", sign]
    assert record.words.split() == ["api", "c", "parent", "word"]
    assert not section.has_long_word


def test_folded_text_is_left_out_where_sqlite_can_make_it() -> None:
    assert page("Plain English, ÉTÉ aside.").sections[0].folded is not None
    assert page("Plain English, 日本語 beside it.").sections[0].folded is None


def test_digest_of_a_section_covers_its_heading() -> None:
    one, two = page(f"## One\n\n{LONG}"), page(f"## Two\n\n{LONG}")

    assert one.sections[0].content == two.sections[0].content
    assert one.sections[0].digest != two.sections[0].digest
    expected = hashlib.sha256(f"One\n{LONG.strip()}".encode()).hexdigest()
    assert one.sections[0].digest == expected


def test_long_runs_are_marked_wherever_they_stand() -> None:
    run = "a" * 65

    assert page(f"## {run}\n\ntext").sections[0].has_long_word
    assert page(run).sections[0].has_long_word
    assert not page(run[:-1]).sections[0].has_long_word


def test_links_know_the_section_they_stand_in() -> None:
    record = page(
        f"[[a]] {LONG}\n\n## B [[b]]\n\n{LONG}\n\n### C\n\n[[c]]\n\n## D\n\n{LONG}[[d]]"
    )

    found = dict(
        zip((link.target for link in record.links), record.link_sections, strict=True)
    )
    assert found == {"a": 0, "b": 1, "c": 1, "d": 2}


def test_warnings_of_links_are_the_pages() -> None:
    assert kinds("[[a|relates_to]]") == ["unknown_link_type"]


# -- sources ---------------------------------------------------------------------------


def test_source_is_kept_as_it_was_when_the_page_was_read(tmp_path: Path) -> None:
    project = vault(tmp_path, {"src/a.py": "code", "docs/x.md": ""})
    info = (tmp_path / "src/a.py").stat()

    record = page("---\nsource_refs: [' src/a.py ', src/b.py]\n---\n", "x.md", project)

    assert record.source_refs == (
        SourceRef("src/a.py", hashlib.sha256(b"code").hexdigest(), stamp_of(info)),
        SourceRef("src/b.py", "", None),
    )


def test_sources_are_distinct_strings_in_their_order(tmp_path: Path) -> None:
    project = vault(tmp_path, {})
    text = "---\nsource_refs: [b, 1, a, ' b ', '', ~, [c]]\n---\n"

    assert [ref.path for ref in page(text, "x.md", project).source_refs] == ["b", "a"]


def test_sources_that_are_no_list_are_a_warning(tmp_path: Path) -> None:
    project = vault(tmp_path, {})

    record, warnings = page_and_warnings(
        "---\nsource_refs: src/a.py\n---\n", "x.md", project
    )

    assert record.source_refs == ()
    assert [warning.kind for warning in warnings] == ["invalid_source_refs"]


@pytest.mark.parametrize(
    "path",
    ["../secret", "a/../../secret", "/etc/passwd", "link/secret", "a..b"],
)
def test_source_outside_the_project_is_not_tracked(tmp_path: Path, path: str) -> None:
    project = vault(tmp_path / "project", {"a.md": ""})
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (tmp_path / "project" / "link").symlink_to(tmp_path)

    record, warnings = page_and_warnings(
        f'---\nsource_refs: ["{path}", ok]\n---\n', "x.md", project
    )

    assert [ref.path for ref in record.source_refs] == ["ok"]
    assert [warning.kind for warning in warnings] == ["source_ref_outside"]


def test_source_that_is_a_folder_or_has_an_endless_name_was_never_seen(
    tmp_path: Path,
) -> None:
    project = vault(tmp_path, {"src/a.py": ""})
    text = f"---\nsource_refs: [src, {'x' * 5_000}]\n---\n"

    refs = page(text, "x.md", project).source_refs

    assert [ref.digest for ref in refs] == ["", ""]


@pytest.mark.timeout(1)
def test_pipe_as_a_source_does_not_hold_up_reading(tmp_path: Path) -> None:
    project = vault(tmp_path, {})
    os.mkfifo(tmp_path / "pipe")

    [ref] = page("---\nsource_refs: [pipe]\n---\n", "x.md", project).source_refs

    assert ref == SourceRef("pipe", "", None)


def test_digest_of_a_file_comes_with_its_stamp(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"\xff\x00")

    assert digest_of(file) == (
        hashlib.sha256(b"\xff\x00").hexdigest(),
        stamp_of(file.stat()),
    )


# -- anything --------------------------------------------------------------------------


@given(front_matter, documents, page_paths)
def test_any_text_is_a_page_that_can_be_sent_and_stored(
    head: str, body: str, path: str
) -> None:
    record = page(head + body, path)

    sent = msgspec.msgpack.encode(record)
    assert msgspec.msgpack.decode(sent, type=PageRecord) == record
    db = fresh()
    writes.save(db, path, "digest", record)
    writes.settle(db)
    stored = list(db.execute("SELECT heading, content FROM docs_section ORDER BY id"))
    assert stored == [(each.heading, each.content) for each in record.sections]


@given(documents)
def test_database_can_make_the_folded_text_of_every_section(text: str) -> None:
    for section in page(text).sections:
        whole = f"{section.heading or ''}\n{section.content}"

        folded = section.folded
        if folded is None:
            folded = lexicon.ascii_lower(whole)
        assert folded == lexicon.fold(whole)


@given(anything)
def test_title_is_one_line_that_is_never_empty(text: str) -> None:
    title = page(text, "a/b.md").title

    assert title
    assert title == " ".join(title.split())
