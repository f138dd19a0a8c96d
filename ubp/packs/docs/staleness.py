"""Whether a page still says what its sources do, judged from the files as they are now.

Per page, the first rule that fits:

1. a source that was there is gone: ``stale``;
2. a source differs: ``stale`` if the last change is older than the threshold, else
   ``possibly_stale``;
3. a source has never been seen: ``untracked``;
4. no sources are named: ``untracked``;
5. otherwise ``fresh``.
"""

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ubp.messages import FileStamp
from ubp.packs.docs.kinds import Staleness, StaleReason
from ubp.packs.docs.records import SourceRef, digest_of
from ubp.reading.walk import stamp_of

__all__ = ("StaleRef", "Verdict", "judge")

_DAY = 86_400

WITHOUT_SOURCES: Staleness = "untracked"


class StaleRef(NamedTuple):
    """A source that is not as it was, and in what way."""

    path: str
    reason: StaleReason


class Verdict(NamedTuple):
    """How far a page can be trusted, and because of which sources."""

    staleness: Staleness
    refs: tuple[StaleRef, ...] = ()


def judge(refs: Sequence[SourceRef], root: Path, threshold_days: float) -> Verdict:
    """Compare the sources of a page with the files below *root*."""
    if not refs:
        return Verdict(WITHOUT_SOURCES)
    changed: list[StaleRef] = []
    last_change = 0.0
    for ref in refs:
        reason, modified = _compare(ref, root)
        if reason is not None:
            changed.append(StaleRef(ref.path, reason))
        if reason == "modified":
            last_change = max(last_change, modified)
    reasons = {ref.reason for ref in changed}
    found = tuple(changed)
    if "deleted" in reasons:
        return Verdict("stale", found)
    if "modified" in reasons:
        old = time.time() - last_change > threshold_days * _DAY
        return Verdict("stale" if old else "possibly_stale", found)
    if "not_found" in reasons:
        return Verdict("untracked", found)
    return Verdict("fresh")


def _compare(ref: SourceRef, root: Path) -> tuple[StaleReason | None, float]:
    """In what way a source differs from its baseline, and when it was modified."""
    if not ref.digest:
        return "not_found", 0.0
    path = root / ref.path
    try:
        info = path.stat()
        stamp = stamp_of(info)
        if stamp == ref.stamp or _digest(path, stamp) == ref.digest:
            return None, info.st_mtime
    except OSError:
        return "deleted", 0.0
    else:
        return "modified", info.st_mtime


@lru_cache(maxsize=4096)
def _digest(path: Path, stamp: FileStamp) -> str:
    """The digest of the file while it bears this stamp."""
    del stamp  # part of the key only: another stamp is another file
    return digest_of(path)[0]
