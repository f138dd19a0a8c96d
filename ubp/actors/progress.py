"""How far an index run is: counters the actors raise and a terminal may read."""

from dataclasses import dataclass

__all__ = ("Progress",)


@dataclass(slots=True)
class Progress:
    """Counters of one comparison between disk and index, and of what follows it."""

    found: int = 0
    """Differences sent so far."""
    scanned: bool = False
    """Whether all differences have been found."""
    done: int = 0
    """Differences carried into the index."""
    stored: int = 0
    """Files stored, new or changed."""
    added: int = 0
    """The new ones of them."""
    failed: int = 0
    removed: int = 0
    seen: int = 0
    """Files that exist."""
    settled: bool = False
    """Whether the index is as the comparison found the disk."""
    embedded: int = 0
    """Texts that were given vectors, or found to have none. Of those that whoever runs
    this may know of, as the next two."""
    to_embed: int = 0
    """The same and those that still wait."""
    made: int = 0
    """Those of them that are our own work, and not another process's."""
    preparing: str = ""
    """What has to be done before the first vector, for people."""
    not_embedded: str = ""
    """Why vectors are not being made, for people; empty if they are."""
