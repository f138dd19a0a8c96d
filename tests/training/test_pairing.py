"""What is learnt from pages in two languages, where the packages for it are installed."""

import importlib
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("training.sources", reason="the folder training is not here")

ENGLISH = """\
---
title: Storing files
---

Files are kept in a folder of the server. Each has a name that does not change.

## Deleting files

Deleted files stay in the *bin* for thirty days. After that they are gone for good.

```js
// empty the bin
await bin.empty();
```

### Undoing it

Whoever deleted a file by mistake finds it in the bin and puts it back from there.
"""
JAPANESE = """\
---
title: ファイルの保存
---

ファイルはサーバーのフォルダーに保存されます。それぞれに変わらない名前があります。

## ファイルの削除

削除されたファイルは*ごみ箱*に三十日間残ります。その後は完全に消去されます。

```js
// ごみ箱を空にする
await bin.empty();
```

### 取り消し

誤ってファイルを削除した人は、ごみ箱でそれを見つけ、そこから元に戻します。
"""


def _collected(
    folder: Path, relevance: tuple[Path, ...] = (), suffix: str = "md"
) -> dict[str, list[Any]]:
    """What a collection takes of the page in both languages."""
    documents = importlib.import_module("training.documents")
    pairing = importlib.import_module("training.pairing")
    exclusion = importlib.import_module("training.exclusion")
    read = documents.html_blocks if suffix == "html" else documents.markdown_blocks
    found = pairing.Collection(exclusion.Measured(relevance))
    align = importlib.import_module("training.aligning").align
    sides = [read(folder / f"{name}.{suffix}") for name in ("en", "ja")]
    found.add_document(align(*sides), "here")
    pairs: dict[str, list[Any]] = found.pairs
    return pairs


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    (tmp_path / "en.md").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "ja.md").write_text(JAPANESE, encoding="utf-8")
    return tmp_path


def test_sections_are_cut_as_the_product_cuts_them_with_markup_and_code(
    pages: Path,
) -> None:
    sections = _collected(pages)["section"]

    assert [pair.en.split("\n")[:2] for pair in sections] == [
        ["Storing files", ""],
        ["Storing files", "Deleting files"],
        ["Storing files", "Deleting files › Undoing it"],
    ]
    deleting = sections[1]
    assert deleting.ja == (
        "ファイルの保存\nファイルの削除\n"
        "削除されたファイルは*ごみ箱*に三十日間残ります。その後は完全に消去されます。\n\n"
        "```js\n// ごみ箱を空にする\nawait bin.empty();\n```"
    )
    assert "await bin.empty();" in deleting.en


def test_the_first_sentences_are_what_a_section_answers(pages: Path) -> None:
    deleting = _collected(pages)["section"][1]

    assert deleting.asks == (
        (
            "Deleted files stay in the bin for thirty days.",
            "削除されたファイルはごみ箱に三十日間残ります。",
        ),
    )


def test_what_search_is_measured_with_is_in_no_part_of_a_page(pages: Path) -> None:
    measured = pages / "measured"
    measured.mkdir()
    line = "誤ってファイルを削除した人は、ごみ箱でそれを見つけ、そこから元に戻します。"
    (measured / "page.md").write_text(f"{line}\n", encoding="utf-8")

    pairs = _collected(pages, (measured,))

    everything = [pair for some in pairs.values() for pair in some]
    assert len(pairs["section"]) == 2
    assert not [pair for pair in everything if line in pair.ja]


def test_measured_text_in_code_leaves_its_section_out(pages: Path) -> None:
    measured = pages / "measured"
    measured.mkdir()
    (measured / "page.md").write_text("// empty the bin of the server for good\n")
    for name in ("en", "ja"):
        page = (pages / f"{name}.md").read_text(encoding="utf-8")
        page = page.replace(
            "await bin", "// Empty the bin of the server for good.\nawait bin"
        )
        (pages / f"{name}.md").write_text(page, encoding="utf-8")

    pairs = _collected(pages, (measured,))

    assert [pair.en.split("\n")[1] for pair in pairs["section"]] == [
        "",
        "Deleting files › Undoing it",
    ]


def test_code_is_paired_with_the_same_code(tmp_path: Path) -> None:
    page = "# Foo\n\nIt is installed first.\n\n{}```sh\nfoo --version\n```\n"
    more = "```sh\nsudo apt install foo\nfoo --version\n```\n\n"
    (tmp_path / "en.md").write_text(page.format(more))
    (tmp_path / "ja.md").write_text(page.format(""), encoding="utf-8")

    align = importlib.import_module("training.aligning").align
    read = importlib.import_module("training.documents").markdown_blocks
    pairs = align(read(tmp_path / "en.md"), read(tmp_path / "ja.md"))

    code = [(ours.source, theirs.source) for ours, theirs in pairs if not ours.text]
    assert [ours == theirs for ours, theirs in code] == [True]


def test_a_folder_in_one_named_like_a_measured_corpus_is_refused(
    tmp_path: Path,
) -> None:
    exclusion = importlib.import_module("training.exclusion")
    folder = tmp_path / "kubernetes-website" / "content" / "ja"
    folder.mkdir(parents=True)

    with pytest.raises(exclusion.Excluded):
        exclusion.Measured(()).check_folder(folder)


def test_html_has_sections_too(tmp_path: Path) -> None:
    for name, source in (("en", ENGLISH), ("ja", JAPANESE)):
        first, second = source.split("\n\n")[2:4]
        code = source.split("```")[1].removeprefix("js\n")
        (tmp_path / f"{name}.html").write_text(
            f"<h1>{first}</h1><h2>{first}</h2><p>{second}</p><pre>{code}</pre>"
            f"<ul><li>{second}</li></ul>".replace("## ", "").replace("*", ""),
            encoding="utf-8",
        )

    (section,) = _collected(tmp_path, suffix="html")["section"]

    title, heading, text, *_ = section.en.split("\n")
    assert (title, heading) == ("Deleting files", "Deleting files")
    assert text.startswith("Deleted files stay")
    assert "```\n// empty the bin\nawait bin.empty();\n```" in section.en
    assert f"- {text}" in section.en


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_pages_of_an_npm_package_are_written_by_language(tmp_path: Path) -> None:
    npm = importlib.import_module("training.npm")
    docs = {
        "en-US": {"/docs/tray": {"html": "<h1>Tray</h1>"}},
        "ja-JP": {"/docs/tray": {"html": "<h1>トレイ</h1>"}},
    }
    package = tmp_path / "package"
    (package / "dist").mkdir(parents=True)
    about = {"name": "manual", "version": "1.2.3", "license": "MIT"}
    (package / "package.json").write_text(json.dumps(about))
    (package / "dist/docs.json").write_text(json.dumps(docs))
    with tarfile.open(tmp_path / "manual.tgz", "w:gz") as archive:
        archive.add(package, "package")

    found = npm.fetch_pages(
        str(tmp_path / "manual.tgz"), tmp_path / "download", tmp_path / "manual"
    )

    assert (found["version"], found["licences"]) == ("1.2.3", ["MIT"])
    written = tmp_path / "manual/pages"
    assert (written / "ja/docs/tray.html").read_text() == "<h1>トレイ</h1>"
    assert (written / "en/docs/tray.html").read_text() == "<h1>Tray</h1>"
