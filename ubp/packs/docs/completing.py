"""How a path that was begun may go on."""

import apsw

from ubp import lexicon
from ubp.packs.docs import queries
from ubp.resources import Completions

__all__ = ("completed_path",)

_MOST = 100
"""As many as MCP allows in one answer."""


def completed_path(db: apsw.Connection, typed: str) -> Completions:
    """The paths that contain *typed*, in any case and width, the likeliest first."""
    wanted = lexicon.fold(typed)
    ranked = sorted(
        (_rank(folded, wanted), path)
        for path in queries.paths(db)
        if wanted in (folded := lexicon.fold(path))
    )
    best = [path for _, path in ranked[:_MOST]]
    return Completions(best, len(ranked))


def _rank(folded: str, wanted: str) -> int:
    """The path begins so, or a folder or file in it does, or it stands elsewhere."""
    if folded.startswith(wanted):
        return 0
    return 1 if f"/{wanted}" in folded else 2
