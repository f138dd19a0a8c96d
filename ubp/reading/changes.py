"""What differs between disk and index: a pure function."""

from collections.abc import Iterable, Iterator, Mapping

from ubp.messages import FileChanged, FileGone, Known, ParseFailed
from ubp.reading.walk import Found, Refused

__all__ = ("differences",)


def differences(
    pack: str,
    found: Iterable[Found | Refused],
    known: Mapping[str, Known],
    *,
    force: bool = False,
    reread: bool = False,
) -> Iterator[FileChanged | FileGone | ParseFailed]:
    """The events that bring the index in line with what was *found*.

    With *force* every file found is read again as if for the first time, with *reread*
    it is only read again, because we read differently now.
    """
    seen: set[str] = set()
    unseen: list[str] = []
    for item in found:
        seen.add(item.path)
        match item:
            case Refused(path, reason, folder):
                if folder:
                    unseen.append(f"{path}/" if path else "")
                # Refused before: it is in the index as such, and nothing was read.
                if force or known.get(path) != Known(None, None):
                    yield ParseFailed(pack, path, reason)
            case Found(path, stamp):
                old = known.get(path)
                if force or reread or old is None:
                    yield FileChanged(pack, path, stamp, reset=force)
                elif old.stamp != stamp:
                    yield FileChanged(pack, path, stamp, old.digest)
    for path in sorted(known.keys() - seen):
        # What is in a folder that cannot be looked into is not known to be gone.
        if not path.startswith(tuple(unseen)):
            yield FileGone(pack, path)
