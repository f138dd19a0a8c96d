"""Meaning, words and links together, with the vectors of the real model."""

from pathlib import Path

import apsw
import pytest
from databases import with_pages
from hypothesis import given
from hypothesis import strategies as st
from meanings import RealModel
from strategies import anything, mixed

from ubp.config import SearchSettings
from ubp.embedding.models import DEFAULT
from ubp.fusion import Calibration, Facts, score
from ubp.packs.docs import meaning_signals
from ubp.packs.docs.hybrid import Hybrid, Question, Signals, find, reason
from ubp.packs.docs.word_signals import by_words
from ubp.store.vector_blocks import Blocks

FILLER = "Nothing more of interest is said here, and at some length. " * 12

PAGES = {
    "cats.md": "# Pets\n\nYoung cats sleep in a basket. See [[fire]].",
    "fire.md": "# Fireplace\n\nLogs of birch burn best. See [[birch|depends_on]].",
    "birch.md": "# Birch\n\nA tree with white bark.",
    "cars.md": "---\ndoc_type: guide\n---\n# Garage\n\nChange the oil of the engine.",
    "codes.md": "# Codes\n\nError XK42Q means that the disk is full.",
    "tax.md": "---\ndoc_type: adr\n---\n# Money\n\nIncome tax is due in spring.",
    "ja.md": "# 延滞\n\n延滞した本を返却するまで、新しい貸出はできません。",
    "long.md": "# Collection\n\n"
    + "\n\n".join(f"## Kitten {n}\n\nA kitten naps. {FILLER}" for n in range(5)),
}


@pytest.fixture(scope="module")
def model(models: Path) -> RealModel:
    return RealModel(models)


@pytest.fixture(scope="module")
def vault(model: RealModel) -> apsw.Connection:
    return model.pages(PAGES)


class Asking:
    """Questions to one vault."""

    def __init__(self, model: RealModel, vault: apsw.Connection) -> None:
        self.model = model
        self.vault = vault
        self.blocks = Blocks()

    def __call__(
        self,
        text: str,
        *,
        limit: int = 20,
        depth: int = 2,
        link_types: list[str] | None = None,
        doc_type: str | None = None,
        alpha: float = SearchSettings().alpha,
        by_words: bool = False,
    ) -> Hybrid:
        vector = None if by_words else self.model.query(self.vault, text)
        question = Question(text, vector, limit, depth, link_types, doc_type, alpha)
        return find(self.vault, self.blocks, question)


@pytest.fixture(scope="module")
def ask(model: RealModel, vault: apsw.Connection) -> Asking:
    return Asking(model, vault)


def paths(found: Hybrid) -> list[str]:
    return [ranked.page.path for ranked in found.pages]


def signals(found: Hybrid) -> dict[str, Signals]:
    return {ranked.page.path: ranked.signals for ranked in found.pages}


def test_meaning_finds_what_words_do_not(ask: Asking) -> None:
    question = "repairing an automobile motor"

    assert "cars.md" not in paths(ask(question, by_words=True))
    found = ask(question)
    assert paths(found)[0] == "cars.md"
    assert found.by_meaning
    assert signals(found)["cars.md"].words == 0


def test_a_rare_word_as_it_is_written_comes_before_meaning(ask: Asking) -> None:
    for question in ("XK42Q", "what does XK42Q mean", "xk42"):
        assert paths(ask(question))[0] == "codes.md", question


def test_a_japanese_question_is_answered_by_words_alone(ask: Asking) -> None:
    found = ask("延滞した本はどうなりますか", by_words=True)

    assert paths(found)[0] == "ja.md"
    assert not found.by_meaning


def test_without_a_vector_the_score_is_the_words_signal(ask: Asking) -> None:
    for ranked in ask("kitten oil", by_words=True).pages:
        assert ranked.score == ranked.signals.words
        assert ranked.signals.similarity == ranked.signals.proximity == 0


def test_only_pages_of_the_type_are_found_linked_ones_included(ask: Asking) -> None:
    for doc_type, only in (("guide", ["cars.md"]), ("adr", ["tax.md"]), ("spec", [])):
        assert paths(ask("money for engine oil", doc_type=doc_type)) == only


def test_scores_fall_and_lie_between_nothing_and_all(ask: Asking) -> None:
    for question in (
        "sleeping cats",
        "engine",
        "XK42Q",
        "the",
        "zzz",
        "kitten oil tax",
    ):
        scores = [ranked.score for ranked in ask(question).pages]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 + 1e-9 for score in scores)


def test_neighbours_are_nearer_the_fewer_links_away(
    model: RealModel,
) -> None:
    chain = {
        "cats.md": "Young cats sleep. [[one]]",
        "one.md": "延滞した本。 [[two|depends_on]]",
        "two.md": "返却する。 [[three]]",
        "three.md": "貸出。",
    }
    ask = Asking(model, model.pages(chain))

    deep = signals(ask("kittens", depth=2))

    assert deep["cats.md"].proximity == 1
    assert deep["one.md"] == Signals(0.0, 0.0, 1.0)
    assert deep["two.md"] == Signals(0.0, 0.0, 0.5)
    assert "three.md" not in deep
    assert list(signals(ask("kittens", depth=1))) == ["cats.md", "one.md"]


def test_only_links_of_the_given_types_are_followed(model: RealModel) -> None:
    pages = {
        "cats.md": "Young cats sleep. [[one]] [[two|depends_on]]",
        "one.md": "延滞した本。",
        "two.md": "返却する。",
    }
    ask = Asking(model, model.pages(pages))

    assert set(paths(ask("kittens", link_types=["depends_on"]))) == {
        "cats.md",
        "two.md",
    }
    assert set(paths(ask("kittens", link_types=[]))) == {"cats.md"}


def test_what_words_find_is_compared_by_meaning_too(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not to be among the closest is not to be without any likeness."""
    question = "the engine of a birch"
    before = signals(ask(question))
    monkeypatch.setattr(meaning_signals, "_MOST_ROWS", 1)

    after = signals(ask(question))

    by_words = {path for path, each in before.items() if each.words > 0}
    assert len(by_words) > 1
    for path in by_words:
        assert after[path].similarity > 0


def test_a_page_reached_by_links_alone_comes_after_those_that_match(
    model: RealModel,
) -> None:
    pages = {"cats.md": "Young cats sleep. [[one]]", "one.md": "延滞した本。"}
    ask = Asking(model, model.pages(pages))

    found = ask("kittens")

    assert paths(found) == ["cats.md", "one.md"]
    assert found.pages[1].sections == ()
    assert "linked" in reason(found.pages[1].signals, "kittens")


def test_the_order_is_always_the_same_and_equal_pages_are_by_path(
    model: RealModel,
) -> None:
    pages = {f"{name}.md": "# Same\n\nThe same text." for name in "cab"}
    ask = Asking(model, model.pages(pages))

    found = [ask("same text") for _ in range(3)]

    assert found[0] == found[1] == found[2]
    assert paths(found[0]) == ["a.md", "b.md", "c.md"]


def test_the_order_does_not_depend_on_the_order_of_storing(model: RealModel) -> None:
    names = ["d", "b", "c", "a"]
    pages = {f"{name}.md": "# Same\n\nThe same text." for name in names}
    ask = Asking(model, model.pages(pages))

    assert paths(ask("same text")) == ["a.md", "b.md", "c.md", "d.md"]


def test_the_total_does_not_depend_on_the_limit(ask: Asking) -> None:
    all_of_them = ask("kitten")

    assert all_of_them.total == len(all_of_them.pages) > 2
    few = ask("kitten", limit=2)
    assert len(few.pages) == 2
    assert paths(few) == paths(all_of_them)[:2]


def test_sections_are_the_best_of_their_page_and_fall(ask: Asking) -> None:
    found = {ranked.page.path: ranked for ranked in ask("kitten naps").pages}

    scores = [hit.score for hit in found["long.md"].sections]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    rows = [hit.row for ranked in found.values() for hit in ranked.sections]
    assert len(set(rows)) == len(rows)


def test_alpha_weighs_meaning_against_words(ask: Asking) -> None:
    question = "repairing an automobile motor XK42Q"

    leads: list[float] = []
    for alpha in (0.0, 0.5, 1.0):
        found = {
            each.page.path: each.score for each in ask(question, alpha=alpha).pages
        }
        leads.append(found["cars.md"] - found["codes.md"])

    assert leads[0] < 0
    assert leads == sorted(leads)
    assert leads[2] > leads[0] + 0.1


@pytest.mark.parametrize(
    ("signals", "told"),
    [
        (Signals(0.5, 0.0, 0.0), "similar in meaning (0.50)"),
        (Signals(0.0, 0.7, 1.0), "has the words (0.70)"),
        (Signals(0.0, 0.2, 1.0), "has some of the words (0.20)"),
        (Signals(0.51, 0.9, 0.0), "similar in meaning (0.51), has the words (0.90)"),
        (Signals(0.0, 0.0, 0.5), "linked with pages that match"),
    ],
)
def test_the_reason_says_what_a_page_was_found_by(signals: Signals, told: str) -> None:
    assert reason(signals, "library") == told


def test_nothing_is_found_by_nothing(ask: Asking) -> None:
    assert ask("", by_words=True) == Hybrid([], 0, by_meaning=False)


@given(st.lists(mixed, max_size=4), st.one_of(anything, mixed), st.integers(1, 3))
def test_any_question_is_an_answer(texts: list[str], query: str, limit: int) -> None:
    db = with_pages({f"{number}.md": text for number, text in enumerate(texts)})

    found = find(db, Blocks(), Question(query, None, limit, 2, None, None, 0.7))

    assert len(found.pages) == min(limit, found.total)
    scores = [ranked.score for ranked in found.pages]
    assert scores == sorted(scores, reverse=True)


# -- two languages ---------------------------------------------------------------------

BOTH = {
    "backup.md": "# Backup\n\nCopies of all files are made every night.",
    "login.md": "# Sign-in\n\nAfter five wrong passwords the account is locked.",
    "colours.md": "# Colours\n\nThe theme of the user interface can be changed.",
    "料金.md": "# 延滞料金\n\n返却が遅れると、一日ごとに料金がかかります。",
    "予約.md": "# 予約\n\n貸出中の本は予約できます。順番が来たらメールで知らせます。",
    "設定.md": "# ネットワーク設定\n\nプロキシを使う場合は接続先を指定します。",
}


@pytest.fixture(scope="module")
def ask_both(models: Path) -> Asking:
    both = RealModel(models, "en", "ja")
    return Asking(both, both.pages(BOTH))


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("パスワードを何度も間違えるとどうなりますか", "login.md"),
        ("ファイルの写しはいつ作られますか", "backup.md"),
        ("画面の配色を変えたい", "colours.md"),
        ("fees for books that are returned late", "料金.md"),
        ("reserve a book that somebody else has borrowed", "予約.md"),
        ("connect through a proxy server", "設定.md"),
        ("本を返すのが遅れたら", "料金.md"),
    ],
)
def test_a_question_finds_its_answer_in_either_language(
    ask_both: Asking, question: str, path: str
) -> None:
    found = ask_both(question)

    assert paths(found)[0] == path
    assert found.by_meaning


def test_a_result_in_another_language_says_so(ask_both: Asking) -> None:
    found = ask_both("fees for books that are returned late")

    marked = {path for path, each in signals(found).items() if each.foreign}
    assert "料金.md" in marked
    assert not any(path.isascii() for path in marked)
    assert "another language" in reason(found.pages[0].signals, "fees")


def test_words_in_ones_own_language_come_before_meaning_in_another(
    ask_both: Asking,
) -> None:
    assert paths(ask_both("ネットワーク設定"))[0] == "設定.md"
    assert paths(ask_both("wrong passwords"))[0] == "login.md"


def test_words_that_many_pages_have_leave_a_japanese_question_to_meaning(
    models: Path,
) -> None:
    model = RealModel(models, "en", "ja")
    db = model.pages(
        {
            "a.md": "# 検索\n\n検索の設定。検索の結果。検索の速さ。",
            "b.md": "# 猫\n\n検索しなくても、子猫はかごで眠る。",
            "c.md": "# 税金\n\n検索すると、納める時期がわかる。",
        }
    )
    question = "子猫を検索"
    found = Asking(model, db)(question)
    shared = by_words(db, "検索", None).common
    assert shared == 1

    pages = Asking(model, db)("検索").pages
    scale = DEFAULT.scale("ja")
    calibration = Calibration(scale.unrelated, scale.related, scale.literal)
    closest = max(each.signals.similarity for each in pages)
    facts = Facts(SearchSettings().alpha, closest, calibration, common=shared)
    for each in pages:
        signals = each.signals[:3]
        assert each.score == pytest.approx(score(facts, *signals))
        assert each.score == 1 or each.score != pytest.approx(
            score(facts._replace(common=0.0), *signals)
        )
    assert paths(found)[0] == "b.md"
