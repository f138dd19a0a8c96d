"""How much is measured: everything for the record, or enough to see a change."""

from typing import NamedTuple

__all__ = ("FULL", "SHORT", "Scale")


class Scale(NamedTuple):
    """Sizes of what is made, and how long and how often it is measured."""

    sections: tuple[int, ...]
    """Of the vaults that searches are measured on; the last is the largest."""
    files: int
    """Of the vault that is indexed."""
    crowds: tuple[int, ...]
    """How many calls are under way at once."""
    seconds: float
    """That a load goes on."""
    rounds: int
    """How often a thing is done whose typical duration is taken."""
    embedded: int
    """Texts that are really embedded."""


FULL = Scale((1_000, 10_000, 100_000), 10_000, (1, 2, 4, 8, 16), 8.0, 60, 600)
SHORT = Scale((10_000,), 2_000, (1, 8), 4.0, 30, 100)
