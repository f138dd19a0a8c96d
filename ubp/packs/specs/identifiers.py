"""One name for each section of a document, however often a heading is used.

The first section called ``examples`` is ``examples``. A second one on the same page is
``examples-1``, as rendered books have it; one on a later page has the page's name in
front: ``items/functions#examples``.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ubp.packs.specs.sections import Cut, Names

__all__ = ("Identified", "identified")


class Identified(Struct, frozen=True, kw_only=True):
    """A section with its names."""

    section_id: str
    """Of this section alone, in its document."""
    long_id: str
    """The same with the page's name in front, always."""
    bare_id: str
    """What its heading alone would call it; others may share it."""
    page: int
    """Which page it stands on."""
    cut: Cut


def identified(pages: Iterable[tuple[str, Sequence[Cut]]]) -> list[Identified]:
    """The sections of all *pages*, by name and in order."""
    found: list[Identified] = []
    taken = Names()
    for number, (page, sections) in enumerate(pages):
        on_page = Names()
        for cut in sections:
            local = on_page.take(cut.name)
            long_id = f"{page}#{local}"
            section_id = taken.take(local if local not in taken else long_id)
            found.append(
                Identified(
                    section_id=section_id,
                    long_id=long_id,
                    bare_id=cut.name,
                    page=number,
                    cut=cut,
                )
            )
    return found
