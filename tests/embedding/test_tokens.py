"""Token ids: those the model was trained on, and none of them lost on the way."""

from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import anything, mixed

from ubp.embedding import weights
from ubp.embedding.tokens import Frame, WordPieces, pieces

TEXTS = {
    "English": "Overdue loans block new ones, e.g. don't lend the 3rd copy twice!",
    "code": "def is_ready(x: int) -> bool:\n\treturn x86_64 != 0x1F and a_b['k'] // 2",
    "Markdown": "## Hold queue\n\n- [[specs/hold-queue|references]] `ubp index --force`",
    "CJK": "延滞した本を返却するまで、新しい貸出はできません。",
    "mixed": "SQLiteに保存する naïve Straße 🎉 \u200b\ufeff Ⅷ",
    "nothing": "",
    "blank": " \n\t ",
}

WINDOW = 20
FRAME = Frame((101,), (102,))


@pytest.fixture(scope="module")
def path(models: Path) -> Path:
    return weights.tokenizer_file(models)


@pytest.fixture(scope="module")
def ours(path: Path) -> WordPieces:
    return WordPieces(path)


@pytest.fixture(scope="module")
def published(path: Path) -> tokenizers.Tokenizer:
    """As it comes, but for the padding."""
    found = tokenizers.Tokenizer.from_file(str(path))
    found.no_padding()
    return found


@pytest.mark.parametrize("kind", TEXTS)
def test_ids_in_their_frame_are_those_of_the_published_tokenizer(
    ours: WordPieces, published: tokenizers.Tokenizer, kind: str
) -> None:
    framed = [*ours.frame.before, *ours.ids(TEXTS[kind]), *ours.frame.after]

    assert framed == published.encode(TEXTS[kind]).ids


def test_text_the_published_tokenizer_would_cut_is_whole(
    ours: WordPieces, published: tokenizers.Tokenizer
) -> None:
    text = "one two three " * 200

    ids = ours.ids(text)

    assert len(ids) == 600
    assert published.encode(text).ids[1:-1] == ids[: len(published.encode(text)) - 2]


@given(st.one_of(anything, mixed))
def test_any_text_has_ids(text: str) -> None:
    ids = KNOWN.ids(text)

    assert set(KNOWN.frame.before + KNOWN.frame.after).isdisjoint(ids) or "[" in text


KNOWN = WordPieces(weights.tokenizer_file(Path("/nowhere")))


bodies = st.lists(st.integers(1_000, 2_000), max_size=200)
heads = st.lists(st.integers(0, 99), max_size=60)


@given(heads, bodies, st.integers(6, 40))
def test_nothing_of_a_body_is_lost_and_no_piece_exceeds_the_window(
    head: list[int], body: list[int], window: int
) -> None:
    made = pieces(head, body, FRAME, window)

    assert made
    found: list[int] = []
    for piece in made:
        assert len(piece) <= window
        assert (piece[0], piece[-1]) == (101, 102)
        inner = piece[1:-1]
        own = [number for number in inner if number >= 1_000]
        before = inner[: len(inner) - len(own)]
        assert inner == before + own
        assert before == head[: len(before)]
        found += own
    assert found == body


@given(heads, bodies, st.integers(6, 40))
def test_pieces_are_as_few_as_they_can_be_and_of_about_one_size(
    head: list[int], body: list[int], window: int
) -> None:
    made = pieces(head, body, FRAME, window)

    room = window - 2
    kept = min(len(head), room // 4)
    assert len(made) <= max(1, -(-len(body) // (room - kept)))
    sizes = [len(piece) for piece in made]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes[:-1])) <= 1


def test_head_is_in_every_piece_and_cut_where_it_is_long() -> None:
    made = pieces(range(50), range(1_000, 1_030), FRAME, WINDOW)

    assert len(made) > 1
    assert all(piece[1:5] == [0, 1, 2, 3] for piece in made)
    assert all(piece[5] >= 1_000 for piece in made)


def test_short_head_is_whole() -> None:
    assert pieces([1, 2], [1_000], FRAME, WINDOW) == [[101, 1, 2, 1_000, 102]]


def test_head_without_a_body_may_fill_the_window() -> None:
    [piece] = pieces(range(50), [], FRAME, WINDOW)

    assert piece == [101, *range(18), 102]


def test_nothing_at_all_is_the_frame() -> None:
    assert pieces([], [], FRAME, WINDOW) == [[101, 102]]


def test_body_of_exactly_the_window_is_one_piece() -> None:
    body = list(range(1_000, 1_018))

    assert pieces([], body, FRAME, WINDOW) == [[101, *body, 102]]
    assert len(pieces([], [*body, 1], FRAME, WINDOW)) == 2
