"""A file's text -> what the notes pack stores of it."""

import posixpath
import re
import unicodedata
from typing import Any

from msgspec import Struct

from ubp import lexicon
from ubp.languages import language_of
from ubp.messages import Warned
from ubp.packs.notes.chunks import Chunk, context_after, split
from ubp.packs.notes.passages import digest_of, passage
from ubp.project import Project
from ubp.reading import frontmatter
from ubp.toolkit import FileText

__all__ = (
    "READER",
    "ChunkRecord",
    "NoteRecord",
    "docs_prefix",
    "key_of",
    "read_note",
)

READER = 2
"""Raised whenever the same file would give another record: then every note is read
again."""

_LEADING_BLANK = re.compile(r"\A(?:[ \t]*\n)+")
_DATE = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d{2})\2(\d{2})(?!\d)")
_WIKILINK = re.compile(r"\[\[([^\]|#]+)[^\]]*\]\]")


class ChunkRecord(Struct, frozen=True, array_like=True):
    """A chunk, with what the full-text index needs of it."""

    heading: str
    parent_heading: str
    start: int
    length: int
    passage: bytes
    """The digest of what is embedded of it."""
    language: str
    has_long_word: bool
    index_heading: str
    index_content: str


class NoteRecord(Struct, frozen=True, array_like=True):
    """Everything the notes pack keeps of one file."""

    title: str
    tags: tuple[str, ...]
    previous: tuple[str, ...]
    """The names of the notes it replaces, as they are compared."""
    created: str
    updated: str
    path_date: str
    docs_key: str
    content: str
    chunks: tuple[ChunkRecord, ...]


def read_note(file: FileText) -> tuple[NoteRecord, list[Warned]]:
    """Understand one Markdown file."""
    values, body, warnings = frontmatter.split(file.text)
    content = _LEADING_BLANK.sub("", body).rstrip()
    title = _text(values.get("title"))
    tags = frontmatter.tags(values)
    chunks, warned = split(content, title, file.path)
    prefix = docs_prefix(file.project)
    in_docs = file.path.startswith(prefix)
    record = NoteRecord(
        title=title,
        tags=tags,
        previous=_previous(values.get("previous")),
        created=_text(values.get("created")),
        updated=_text(values.get("updated")),
        path_date=_path_date(file.path),
        docs_key=key_of(file.path.removeprefix(prefix)) if in_docs else "",
        content=content,
        chunks=tuple(_chunks(content, title, tags, chunks)),
    )
    return record, [*warnings, *warned]


def docs_prefix(project: Project) -> str:
    """What the path of a note in the docs folder begins with."""
    folder = project.docs_dir.relative_to(project.root).as_posix()
    return "" if folder == "." else f"{folder}/"


def key_of(name: str) -> str:
    """A path or file name as it is compared: one form, without ``.md``."""
    return unicodedata.normalize("NFC", name).removesuffix(".md")


def _chunks(
    content: str, title: str, tags: tuple[str, ...], chunks: list[Chunk]
) -> list[ChunkRecord]:
    language_of_note = language_of(content)
    records: list[ChunkRecord] = []
    context = ""
    for chunk in chunks:
        text = content[chunk.start : chunk.end]
        whole = passage(title, tags, context, chunk.parent_heading, chunk.heading, text)
        heading = lexicon.spread(lexicon.fold(f"{title}\n{chunk.heading}"))
        written = lexicon.spread(lexicon.fold(text))
        records.append(
            ChunkRecord(
                heading=chunk.heading,
                parent_heading=chunk.parent_heading,
                start=chunk.start,
                length=chunk.end - chunk.start,
                passage=digest_of(whole),
                # Code in a Japanese note belongs to what is said about it there.
                language=language_of(f"{chunk.heading}\n{text}")
                if language_of_note == "en"
                else language_of_note,
                has_long_word=heading.has_long_word or written.has_long_word,
                index_heading=heading.text,
                index_content=written.text,
            )
        )
        context = context_after(text)
    return records


def _text(value: Any) -> str:
    """A value of the front matter that should be one line of text."""
    return " ".join(" ".join(frontmatter.texts(value)).split())


def _previous(value: Any) -> tuple[str, ...]:
    names = [
        _WIKILINK.sub(r"\1", text).removeprefix("./").strip()
        for text in frontmatter.texts(value)
    ]
    # A name of nothing would be that of every note outside the docs folder.
    return tuple(dict.fromkeys(key for name in names if (key := key_of(name))))


def _path_date(path: str) -> str:
    """The date in a path, as YYYYMMDD; that of the file's own name if it has one."""
    for part in (posixpath.basename(path), path):
        for year, _, month, day in _DATE.findall(part):
            if "01" <= month <= "12" and "01" <= day <= "31":
                return f"{year}{month}{day}"
    return ""
