"""columns.toml, what is pending, templates, pages and lint: pure parts of a board."""

import errno
from contextlib import suppress
from pathlib import Path

import pytest
from boards_on_disk import Hands, ulid
from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.board import journal, operations, rendering
from ubp.packs.board.board_lock import locked
from ubp.packs.board.committing import replace_derived
from ubp.packs.board.failures import (
    BoardUnavailable,
    Conflict,
    Denied,
    InvalidValue,
    refused,
)
from ubp.packs.board.linting import Finding, findings
from ubp.packs.board.names import file_name, parsed, slug_of
from ubp.packs.board.pending import Pending, Telling
from ubp.packs.board.rules import parsed_rules
from ubp.packs.board.templates import TemplateError, filled
from ubp.packs.board.ulids import ULID, Ulids, ulid_or_none
from ubp.packs.board.uris import Address, board_uri, card_uri, parsed_uri


def test_ids_ascend_whatever_the_clock_does() -> None:
    times = iter([5, 5, 5, 3, 9, 9, 1] * 1_000)
    ulids = Ulids(lambda: next(times) * 10**6)

    made = [ulids() for _ in range(7_000)]

    assert made == sorted(set(made))
    assert all(ULID.match(each) for each in made)


@given(st.text())
def test_every_title_has_a_name_that_leads_back_to_its_id(title: str) -> None:
    name = file_name(ulid(7), title)

    assert len(name.encode()) <= 26 + 2 + 200 + 3
    assert not set(name) & set('/\\:*?"<>|\0\n')
    found = parsed(name)
    assert found is not None
    assert found == (ulid(7), slug_of(title))


@given(st.text())
def test_any_text_is_an_id_or_none(text: str) -> None:
    found = ulid_or_none(text)

    assert found is None or found == text.upper()


@given(st.text(max_size=80))
def test_any_columns_toml_gives_rules(text: str) -> None:
    rules = parsed_rules(text)

    assert rules.columns
    assert rules.max_batch > 0


def test_both_shapes_of_columns_say_the_same() -> None:
    one = parsed_rules('columns = ["a", "b"]\n[wip_limits]\nb = 2\n')
    other = parsed_rules(
        '[[columns]]\nkey = "a"\n[[columns]]\nkey = "b"\nwip_limit = 2\n'
    )

    assert [c.key for c in one.columns] == [c.key for c in other.columns] == ["a", "b"]
    assert one.wip_limits == other.wip_limits == {"b": 2}


def test_what_does_not_fit_is_a_warning_and_the_rest_counts() -> None:
    rules = parsed_rules(
        'columns = ["a", "../x"]\n[watch]\ndebounce_ms = "soon"\n[render]\nenabled = true\n'
    )

    assert [c.key for c in rules.columns] == ["a"]
    assert rules.renders
    assert len(rules.warnings) == 2


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        (board_uri("main"), Address("main", "board")),
        (board_uri("第二 x"), Address("第二 x", "board")),
        (card_uri("b", ulid(1)), Address("b", "card", ulid(1))),
        (card_uri("b", ulid(1).lower(), "state"), Address("b", "state", ulid(1))),
        (board_uri("b", f"tree/{ulid(1)}"), Address("b", "tree", ulid(1))),
        ("kanban://b/cards/../x", None),
        ("kanban://b/cards/odd", None),
        ("kanban:///board", None),
        ("file:///etc/passwd", None),
    ],
)
def test_a_uri_names_one_thing_or_nothing(uri: str, address: Address | None) -> None:
    assert parsed_uri(uri) == address


def test_the_first_change_is_told_at_once_and_what_follows_after_a_pause() -> None:
    pending = Pending()
    pending.note(["b"], 10.0, debounce=0.3, max_batch=50)
    assert pending.take(10.0, 0.3) == Telling(("b",))

    pending.note(["d"], 10.1, debounce=0.3, max_batch=50)
    pending.note(["c"], 10.2, debounce=0.3, max_batch=50)
    assert pending.take(10.3, 0.3) is None
    assert pending.take(10.5, 0.3) == Telling(("c", "d"))
    assert pending.next_due(0.3) is None


def test_a_full_batch_waits_for_nothing() -> None:
    pending = Pending()
    pending.note(["a"], 0.0, debounce=60, max_batch=2)
    pending.take(0.0, 60)
    pending.note(["a"], 0.1, debounce=60, max_batch=2)
    assert pending.take(0.1, 60) is None
    pending.note(["b"], 0.2, debounce=60, max_batch=2)

    assert pending.take(0.2, 60) == Telling(("a", "b"))


def test_the_third_overflow_in_a_row_is_told_of_the_board_alone() -> None:
    pending = Pending()
    pending.note(["x"], 0.0, debounce=1, max_batch=2)
    pending.take(0.0, 1)
    for at in (0.1, 0.2):
        pending.note(["a", "b", "c"], at, debounce=1, max_batch=9, overflowed=True)
        assert pending.take(at, 1) is None
    pending.note(["d"], 0.3, debounce=1, max_batch=9, overflowed=True)

    assert pending.take(0.3, 1) == Telling(())


def test_a_template_repeats_and_names() -> None:
    values = {"list": [{"k": "a", "n": 1}, {"k": "b", "n": 2.5}], "top": "t"}

    made = filled("{{#each list}}{{k}}={{n}}{{../top}};{{/each}}{{none}}.", values)

    assert made == "a=1t;b=2.5t;."


@pytest.mark.parametrize(
    "template", ["{{#each x}}", "{{/each}}", "{{x", "{{#if x}}", "{{a b}}", "{{}}"]
)
def test_a_template_that_is_not_understood_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        filled(template, {})


@given(st.text(alphabet="{}#/each. xyz", max_size=40))
def test_any_template_is_filled_or_refused(template: str) -> None:
    with suppress(TemplateError):
        filled(template, {"x": [{"y": 1}], "z": "{{x}}"})


def test_the_page_that_was_generated_counts_until_something_changes(
    tmp_path: Path,
) -> None:
    hands = Hands(tmp_path)
    hands.card(1)
    board = hands.board()
    rendering.write_pages(hands.kanban, board.view.snapshot())
    page = hands.kanban / "generated/board.md"
    page.write_text("by hand\n")
    assert rendering.current_page(hands.kanban, board.view.snapshot()) == "by hand\n"

    hands.card(2)

    assert "backlog: 2" in rendering.current_page(
        hands.kanban, board.view.snapshot(every_file=True)
    )


def test_nobody_tidies_up_while_pages_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = Hands(tmp_path)
    hands.card(1)
    board = hands.board()
    written: list[str] = []

    def write(kanban: Path, path: Path, content: bytes) -> None:
        with pytest.raises(Conflict), locked(kanban, patience=0):
            pass
        written.append(path.name)
        replace_derived(kanban, path, content)

    monkeypatch.setattr(rendering, "replace_derived", write)
    rendering.write_pages(hands.kanban, board.view.snapshot())

    assert written == ["board.md"]
    with locked(hands.kanban, patience=0):
        assert (hands.kanban / "generated/board.md").exists()


def test_progress_ends_where_parents_go_in_a_circle(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    hands.write("columns.toml", f'[render]\nprogress_parent = "{ulid(1)}"\n')
    hands.card(1, parent=ulid(2))
    hands.card(2, "Two", "done/2024/01", parent=ulid(1), size=4)

    (progress,) = rendering.progress_of(hands.board().view.snapshot())

    assert progress.text == "progress: 1/1 (100.0%) size: 4/4 (100.0%)"


def test_lint_tells_a_circle_once_however_long_it_is(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    for number in range(1, 60):
        hands.card(number, depends_on=[ulid(number % 59 + 1)])
    hands.card(99, depends_on=[ulid(5)])

    found = findings(hands.board().view.snapshot())

    assert [each.message for each in found] == [f"depends cycle detected at {ulid(1)}"]


HIDDEN = '{"ts": "2026-01-01T00:00:00Z", "text": "secret"}'


@pytest.mark.parametrize("is_folder", [True, False], ids=["folder", "file"])
def test_nothing_is_read_by_way_of_a_link(tmp_path: Path, is_folder: bool) -> None:
    hands = Hands(tmp_path / "board")
    ident = hands.card(1)
    outside = tmp_path / "outside"
    for folder, name in (
        ("templates", "board.hbs"),
        ("generated", "board.md"),
        ("notes", f"{ident}.ndjson"),
    ):
        (outside / folder).mkdir(parents=True)
        (outside / folder / name).write_text(HIDDEN)
        if is_folder:
            (hands.kanban / folder).symlink_to(outside / folder)
        else:
            (hands.kanban / folder).mkdir()
            (hands.kanban / folder / name).symlink_to(outside / folder / name)
    for name in ("columns.toml", "cards.ndjson"):
        (hands.kanban / name).symlink_to(outside / "notes" / f"{ident}.ndjson")
    board = hands.board()

    snapshot = board.view.snapshot()
    operations.new(board.desk, "Another", None, {}, "")

    assert "secret" not in (snapshot.rules_text or "")
    assert findings(snapshot)[0] == Finding(
        "error", "columns.toml cannot be read: it is a symbolic link."
    )
    assert journal.latest(hands.kanban, ident, limit=3) == []
    with pytest.raises(InvalidValue):
        rendering.current_page(hands.kanban, snapshot)
    assert "secret" not in (hands.kanban / "cards.ndjson").read_text(encoding="utf-8")


def test_rules_that_cannot_be_read_count_again_when_they_can(tmp_path: Path) -> None:
    hands = Hands(tmp_path)
    hands.write("columns.toml", "")
    view = hands.board().view
    assert view.snapshot().rules.warnings == ()

    (hands.kanban / "columns.toml").write_bytes(b"\xff")
    assert view.snapshot(every_file=True).rules.warnings == (
        "columns.toml cannot be read: it is not UTF-8.",
    )
    hands.write("columns.toml", "")
    assert view.snapshot(every_file=True).rules.warnings == ()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (errno.EACCES, Denied),
        (errno.EPERM, Denied),
        (errno.EROFS, Denied),
        (errno.ENOSPC, BoardUnavailable),
        (errno.EIO, BoardUnavailable),
    ],
)
def test_what_may_not_be_written_is_denied_and_what_cannot_be_is_a_fault(
    code: int, kind: type[Exception]
) -> None:
    assert isinstance(refused("No.", OSError(code, "why")), kind)
