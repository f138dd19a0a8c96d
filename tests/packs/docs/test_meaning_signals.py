"""How close pages are in meaning, with the vectors of the real model."""

from collections.abc import Collection
from pathlib import Path

import apsw
import pytest
from databases import fresh, save, with_pages
from meanings import RealModel
from vaults import page

from ubp.languages import Language
from ubp.messages import QueryVector
from ubp.packs.docs import meaning_signals, queries
from ubp.packs.docs.meaning_signals import by_meaning, without_vectors
from ubp.packs.docs.page_signals import PageMeaning
from ubp.packs.docs.passages import passage
from ubp.store.vector_blocks import Blocks

FILLER = "Nothing more of interest is said here, and at some length. " * 12

PAGES = {
    "cats.md": "# Pets\n\nYoung cats sleep in a basket by the fire.",
    "cars.md": "---\ndoc_type: guide\n---\n# Garage\n\nChange the oil of the engine.",
    "tax.md": "---\ndoc_type: adr\n---\n# Money\n\nIncome tax is due in spring.",
    "long.md": (
        f"# Collection\n\n## Engines\n\nA motor is repaired. {FILLER}\n\n"
        f"## Kittens\n\nA kitten naps on the sofa. {FILLER}\n\n## Rest\n\n{FILLER}"
    ),
    "ja.md": "# 猫\n\n子猫は暖炉のそばで眠る。",
}


@pytest.fixture(scope="module")
def model(models: Path) -> RealModel:
    return RealModel(models)


@pytest.fixture(scope="module")
def vault(model: RealModel) -> apsw.Connection:
    return model.pages(PAGES)


def found(
    db: apsw.Connection,
    vector: QueryVector,
    doc_type: str | None = None,
    language: Language = "en",
    also: Collection[int] = (),
) -> dict[str, PageMeaning]:
    """What is close, by path, the closest first."""
    near = by_meaning(db, Blocks(), vector, doc_type, language, also).pages
    pages = queries.pages(db, near)
    order = sorted(near, key=lambda page: -near[page].similarity)
    return {pages[page].path: near[page] for page in order}


def test_the_page_that_means_the_same_is_closest(
    model: RealModel, vault: apsw.Connection
) -> None:
    for question, path in (
        ("where do kittens rest", "cats.md"),
        ("maintenance of a motor vehicle", "cars.md"),
        ("when must I pay the government", "tax.md"),
    ):
        assert next(iter(found(vault, model.query(vault, question)))) == path


def test_similarities_are_shares_and_sections_come_closest_first(
    model: RealModel, vault: apsw.Connection
) -> None:
    near = found(vault, model.query(vault, "a sleeping kitten"))

    for each in near.values():
        values = [similarity for _, similarity in each.sections]
        assert values == sorted(values, reverse=True)
        assert all(0 < value <= 1 for value in values)
        assert min(values) <= each.similarity <= max(values)
    texts = queries.section_texts(vault, [near["long.md"].sections[0][0]])
    assert [text.heading for text in texts.values()] == ["Kittens"]


def test_a_long_section_is_one_row_although_it_has_several_vectors(
    model: RealModel,
) -> None:
    text = "The engine of the car is loud. " * 200
    db = model.pages({"a.md": text})
    sections: int = db.execute("SELECT count(*) FROM docs_section").get

    [page] = found(db, model.query(db, "motor")).values()

    rows = [row for row, _ in page.sections]
    assert len(rows) == len(set(rows)) == sections


def test_of_what_was_found_otherwise_it_is_known_how_close_it_is(
    model: RealModel, vault: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is not among the closest is not infinitely far away."""
    vector = model.query(vault, "where do kittens rest")
    all_of_it = found(vault, vector)
    rows = [row for each in all_of_it.values() for row, _ in each.sections]
    monkeypatch.setattr(meaning_signals, "_MOST_ROWS", 1)

    assert list(found(vault, vector)) == ["cats.md"]
    assert found(vault, vector, also=rows) == all_of_it


def test_meaning_keeps_to_a_doc_type(model: RealModel, vault: apsw.Connection) -> None:
    vector = model.query(vault, "where do kittens rest")

    assert list(found(vault, vector, "guide")) == ["cars.md"]
    assert found(vault, vector, "report") == {}


def test_what_the_model_cannot_read_is_not_found_by_it(
    model: RealModel, vault: apsw.Connection
) -> None:
    assert "ja.md" not in found(vault, model.query(vault, "kittens"))


def test_a_vector_of_a_model_that_no_longer_serves_finds_nothing(
    model: RealModel, vault: apsw.Connection
) -> None:
    old = model.query(vault, "kittens")

    assert found(vault, QueryVector(old.model + 1, old.values)) == {}
    assert found(fresh(), old) == {}
    assert found(with_pages(PAGES), old) == {}


def test_a_page_that_changed_is_out_until_it_is_embedded_again(
    model: RealModel,
) -> None:
    db = model.pages({"a.md": "A kitten.", "b.md": "An engine."})
    vector = model.query(db, "cats")

    save(db, "a.md", "A kitten, and another one.")

    assert list(found(db, vector)) == ["b.md"]
    model.embed(db)
    assert list(found(db, vector))[0] == "a.md"  # noqa: RUF015 - reads better


def test_hashes_and_embedded_images_have_no_meaning() -> None:
    image = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 40

    _, body = passage("Title", "", f"Before {image} after.")

    assert body == "Before data:image/png;base64,… after."


def test_the_share_without_vectors_counts_what_the_model_cannot_read(
    model: RealModel,
) -> None:
    japanese = {f"{number}.md": f"本の{number}冊目です。" for number in range(3)}
    db = model.pages({"en.md": "A page about cats.", **japanese})

    assert without_vectors(db, Blocks()) == 0.75
    assert without_vectors(with_pages({"a.md": "A page."}), Blocks()) == 1.0


def test_code_in_a_japanese_page_is_as_japanese_as_the_page() -> None:
    code = "make install && ./configure --prefix=/usr/local --enable-everything " * 4
    text = f"# 手順\n\n{'インストールの手順を説明します。' * 30}\n\n## Code\n\n{code}"

    assert {section.language for section in page(text).sections} == {"ja"}


def test_sections_in_another_language_than_the_question_are_marked(
    models: Path,
) -> None:
    both = RealModel(models, "en", "ja")
    vault = both.pages(
        {
            "en.md": "# Backup\n\nCopies of all files are made at night.",
            "ja.md": "# バックアップ\n\nすべてのファイルの写しを夜に作ります。",
        }
    )

    cases: tuple[tuple[str, Language, str], ...] = (
        ("When are files copied?", "en", "ja.md"),
        ("ファイルの写しはいつ作られますか", "ja", "en.md"),
    )
    for question, language, foreign in cases:
        near = found(vault, both.query(vault, question), None, language)
        assert {path for path, each in near.items() if each.is_foreign} == {foreign}
