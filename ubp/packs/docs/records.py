"""A file's text -> what the docs pack stores of it."""

import hashlib
import os
import posixpath
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ubp import lexicon
from ubp.languages import Language, language_of
from ubp.messages import FileStamp, Warned
from ubp.packs.docs import links as page_links
from ubp.packs.docs import sections as page_sections
from ubp.packs.docs.kinds import DOC_TYPES
from ubp.packs.docs.links import PageLink
from ubp.packs.docs.passages import digest_of as digest_of_passage
from ubp.packs.docs.passages import passage
from ubp.reading import frontmatter, markdown
from ubp.reading.walk import open_file, stamp_of
from ubp.toolkit import FileText

__all__ = (
    "READER",
    "PageRecord",
    "SectionRecord",
    "SourceRef",
    "digest_of",
    "read_page",
)


READER = 4
"""Raised whenever the same file would give another record, or other words in the index:
then every page is read again."""


class SectionRecord(Struct, frozen=True, array_like=True):
    """A section, with what the full-text index needs of it."""

    heading: str | None
    level: int
    heading_path: str
    content: str
    continued: bool
    digest: str
    tokens: int
    folded: str | None
    """The folded text, where lowering ASCII letters does not already give it."""
    has_long_word: bool
    index_heading: str
    index_content: str
    passage: bytes
    """The digest of what is embedded of it; empty if nothing is."""
    language: str


class SourceRef(Struct, frozen=True, array_like=True):
    """A source file a page describes, as it was when the page was read."""

    path: str
    digest: str
    """Empty where there was no such file."""
    stamp: FileStamp | None


class PageRecord(Struct, frozen=True, array_like=True):
    """Everything the docs pack keeps of one file."""

    title: str
    index_name: str
    """What it is called, as the index of names has it: title, file name, tags."""
    doc_type: str
    tags: tuple[str, ...]
    front_matter: str
    """All of it, as JSON."""
    sections: tuple[SectionRecord, ...]
    words: str
    """The distinct words of all sections, separated by spaces."""
    links: tuple[PageLink, ...]
    link_sections: tuple[int, ...]
    """For each link the index of the section it stands in."""
    source_refs: tuple[SourceRef, ...]


def read_page(file: FileText) -> tuple[PageRecord, list[Warned]]:
    """Understand one Markdown file."""
    values, body, warnings = frontmatter.split(file.text)
    document = markdown.read(body)
    sections = page_sections.split(document.blocks)
    found, link_warnings = page_links.understood(
        document.links, file.path, file.project.settings.docs.site_prefix
    )
    warnings = [*warnings, *link_warnings]
    section_of = {
        block: number
        for number, section in enumerate(sections)
        for block in section.blocks
    }
    language = language_of(body)
    title, tags = _title(values, document.blocks, file.path), frontmatter.tags(values)
    stem = posixpath.basename(file.path).removesuffix(".md")
    # A title alone is as close to a question as a whole page, and says nothing.
    needs_body = len(sections) > 1
    made = [_section(each, title, language, needs_body=needs_body) for each in sections]
    words = set[str]().union(*(its_words for _, its_words in made))
    record = PageRecord(
        title=title,
        index_name=lexicon.spread(lexicon.fold(" ".join([title, stem, *tags]))).text,
        doc_type=_doc_type(values, warnings),
        tags=tags,
        front_matter=msgspec.json.encode(values).decode(),
        sections=tuple(section for section, _ in made),
        words=" ".join(sorted(words)),
        links=tuple(found),
        link_sections=tuple(section_of.get(link.block, 0) for link in found),
        source_refs=tuple(_source_refs(values, file.project.root, warnings)),
    )
    return record, warnings


def digest_of(path: Path) -> tuple[str, FileStamp]:
    """The SHA-256 of a file's bytes, and its stamp from before they were read."""
    with open_file(path) as file:
        stamp = stamp_of(os.fstat(file.fileno()))
        return hashlib.file_digest(file, "sha256").hexdigest(), stamp


def _title(values: dict[str, Any], blocks: list[markdown.Block], path: str) -> str:
    title = values.get("title")
    if isinstance(title, str) and title.strip():
        return " ".join(title.split())
    first = next(
        (block.text for block in blocks if block.level == 1 and block.text), ""
    )
    return first or path.removesuffix(".md")


def _doc_type(values: dict[str, Any], warnings: list[Warned]) -> str:
    given = values.get("doc_type")
    if given is None or given in DOC_TYPES:
        return given or "other"
    known = ", ".join(DOC_TYPES)
    warnings.append(
        Warned("unknown_doc_type", f"doc_type {given!r:.60} is not one of {known}.")
    )
    return "other"


def _section(
    section: page_sections.Section,
    title: str,
    page_language: Language = "en",
    *,
    needs_body: bool = False,
) -> tuple[SectionRecord, set[str]]:
    """The section, and its words."""
    heading = section.heading or ""
    text = f"{heading}\n{section.content}"
    folded = lexicon.fold(text)
    folded_heading, _, folded_content = folded.partition("\n")
    in_heading, in_content = (
        lexicon.spread(folded_heading),
        lexicon.spread(folded_content),
    )
    heading_path = " › ".join(section.heading_path)
    text_of = passage(title, heading_path, section.content)
    record = SectionRecord(
        section.heading,
        section.level,
        heading_path,
        section.content,
        section.continued,
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        section.tokens,
        None if text.isascii() or folded == lexicon.ascii_lower(text) else folded,
        in_heading.has_long_word or in_content.has_long_word,
        in_heading.text,
        in_content.text,
        digest_of_passage(text_of) if text_of.body or not needs_body else b"",
        # Code in a Japanese page belongs to what is said about it there.
        language_of(text) if page_language == "en" else page_language,
    )
    return record, in_heading.words | in_content.words


def _source_refs(
    values: dict[str, Any], root: Path, warnings: list[Warned]
) -> list[SourceRef]:
    given = values.get("source_refs")
    if given is None:
        return []
    if not isinstance(given, list):
        warnings.append(Warned("invalid_source_refs", "source_refs is not a list."))
        return []
    refs: dict[str, SourceRef] = {}
    for entry in given:
        path = entry.strip() if isinstance(entry, str) else ""
        if not path or path in refs:
            continue
        if not _stays_inside(path, root):
            reason = "leaves the project (path traversal); it is not tracked"
            warnings.append(
                Warned("source_ref_outside", f"source_refs: {path!r:.80} {reason}.")
            )
            continue
        try:
            digest, stamp = digest_of(root / path)
            refs[path] = SourceRef(path, digest, stamp)
        except (OSError, ValueError):
            refs[path] = SourceRef(path, "", None)
    return list(refs.values())


def _stays_inside(path: str, root: Path) -> bool:
    if ".." in path or "\x00" in path or Path(path).is_absolute():
        return False
    try:
        return (root / path).resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        return False
