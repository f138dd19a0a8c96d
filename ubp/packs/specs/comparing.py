"""What changed between two snapshots; of the texts, only that they did."""

import apsw
from msgspec import Struct

from ubp.packs.specs import queries
from ubp.packs.specs.choosing import chosen
from ubp.packs.specs.languages import Language
from ubp.packs.specs.snapshots import SectionRow

__all__ = ("Difference", "NamedSection", "compared")


class NamedSection(Struct, frozen=True, kw_only=True):
    """A section, without its text."""

    section_id: str
    title: str


class Difference(Struct, frozen=True, kw_only=True):
    """The sections that are in one snapshot only, or differ; in their order."""

    added: list[NamedSection]
    removed: list[NamedSection]
    changed: list[NamedSection]


def compared(
    db: apsw.Connection, language: Language, doc: str | None, old: str, new: str
) -> Difference:
    """What is in the snapshot *new* and was not in *old*, and the other way round.

    Raises:
        CallerError: There is no such snapshot, or no such document.
    """
    before, after = (
        {
            each.row.section_id: each.row
            for each in queries.stored_sections(
                db, chosen(db, language, doc, version).id
            )
        }
        for version in (old, new)
    )
    return Difference(
        added=[_named(row) for ident, row in after.items() if ident not in before],
        removed=[_named(row) for ident, row in before.items() if ident not in after],
        changed=[
            _named(row)
            for ident, row in after.items()
            if ident in before and _said(before[ident]) != _said(row)
        ],
    )


def _named(row: SectionRow) -> NamedSection:
    return NamedSection(section_id=row.section_id, title=row.title)


def _said(row: SectionRow) -> tuple[str, str, str]:
    return row.title, row.path, row.fulltext
