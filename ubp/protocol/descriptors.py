"""Take standard input and output for the wire, away from everybody else.

The protocol uses private duplicates of the two descriptors; descriptor 1 itself is
pointed at standard error, so no library, however native, can reach the wire.
"""

import os
from typing import NamedTuple

__all__ = ("Descriptors", "claim_descriptors")


class Descriptors(NamedTuple):
    """The wire's own descriptors."""

    input: int
    output: int


def claim_descriptors() -> Descriptors:
    """The wire. Call it before anything opens a file or prints."""
    for standard in (0, 1, 2):
        _make_sure_it_is_open(standard)
    wire = Descriptors(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire


def _make_sure_it_is_open(descriptor: int) -> None:
    """A closed one would be given to the next file that is opened, whatever it is."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # gets the lowest free number: this one
