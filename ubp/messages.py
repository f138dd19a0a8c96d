"""What the actors say to each other.

A message is a fact or a request, never a command to a particular object: it is
named in the past tense if it reports (``FileChanged``) and as a verb phrase if it
asks (``RunTool``). Messages are data only - no streams, no callables - so any of
them can be logged, stored or sent to another process.
"""

from typing import Any

from msgspec import Struct

__all__ = (
    "AimAt",
    "ChangesComing",
    "EmbedQuery",
    "FileChanged",
    "FileEvent",
    "FileGone",
    "FileParsed",
    "FileStamp",
    "FileUnchanged",
    "FollowResources",
    "IndexEvent",
    "Known",
    "MadeVectors",
    "ModelCompleted",
    "NoVector",
    "ParseFailed",
    "QueryVector",
    "ReadOutcome",
    "ResourcesChanged",
    "RunTool",
    "ScanFinished",
    "TextsChanged",
    "VectorChange",
    "VectorsMade",
    "Warned",
)


class Message(Struct, frozen=True, tag=True):
    """Base of every message; the tag is the class name."""


class FileStamp(Struct, frozen=True, array_like=True):
    """What the file system says of a file; equal stamps mean an unchanged file.

    The change time is part of it, so that a restored modification time or changed
    permissions are noticed too.
    """

    size: int
    mtime_ns: int
    ctime_ns: int


class Known(Struct, frozen=True, array_like=True):
    """What the index holds of a file.

    No digest where reading it failed; no stamp either where it was refused.
    """

    stamp: FileStamp | None
    digest: str | None


class Warned(Struct, frozen=True, array_like=True):
    """Something in a file that was not understood; the file is indexed all the same."""

    kind: str
    text: str


class ChangesComing(Message, frozen=True):
    """Something stirs; what exactly will be known in a moment. Get ready to read."""


class FileChanged(Message, frozen=True):
    """A file appeared, or its stamp differs from the one in the index."""

    pack: str
    path: str
    stamp: FileStamp
    digest: str | None = None
    """What the index holds; a file with this digest need not be parsed."""
    reset: bool = False
    """Whether what was noted when it was first read is to be noted anew."""


class FileGone(Message, frozen=True):
    """A file we may have indexed no longer exists, or is no longer ours to read."""

    pack: str
    path: str


class FileParsed(Message, frozen=True):
    """A file was read and understood. Nothing is stored yet."""

    pack: str
    path: str
    stamp: FileStamp
    digest: str
    record: bytes
    """The pack's own record in MessagePack. Only the pack looks inside."""
    warnings: tuple[Warned, ...] = ()
    reset: bool = False
    is_new: bool = False
    """Whether the index had nothing at its path: the writer finds out."""


class FileUnchanged(Message, frozen=True):
    """A file was touched, but its bytes are those in the index."""

    pack: str
    path: str
    stamp: FileStamp
    digest: str


class ParseFailed(Message, frozen=True):
    """A file could not be read as a document. The file is at fault, not us."""

    pack: str
    path: str
    reason: str
    stamp: FileStamp | None = None


class ScanFinished(Message, frozen=True):
    """Every difference between disk and index found by one comparison was sent."""

    seen: int
    changed: int
    gone: int
    fingerprints: dict[str, str] = {}
    """By pack, how its files have been read, all of them."""


class RunTool(Message, frozen=True):
    """Run a tool with arguments that have already been checked."""

    tool: str
    arguments: Any
    request_id: str
    asked: float = 0.0
    """When, by the performance counter; how long it queued follows."""


class FollowResources(Message, frozen=True):
    """Look after these resources from now on, and after no others."""

    uris: frozenset[str]
    listed: bool
    """Whether to look at which resources there are, too."""


class ResourcesChanged(Message, frozen=True):
    """Resources that are followed are not as they were, or others came or went."""

    uris: tuple[str, ...]
    listed: bool = False


class TextsChanged(Message, frozen=True):
    """There may be texts without vectors. Which, the database knows."""


class EmbedQuery(Message, frozen=True):
    """Make the vector of a query, in the space of the vectors that serve."""

    text: str


class QueryVector(Message, frozen=True):
    """The vector of a query, as float32, and the model it belongs to."""

    model: int
    values: bytes
    unrelated: float = 0.0
    related: float = 0.0
    """What similarities of that model mean (``ubp/fusion.py``); equal if unknown."""
    literal: float = 0.0
    """How far words that tell something outweigh it."""


class NoVector(Message, frozen=True):
    """There is no vector to search with; *reason* is for people."""

    reason: str
    failed: bool = False
    """Whether somebody tried to make it, and could not."""


class AimAt(Message, frozen=True):
    """Make vectors with this model from now on."""

    identity: str
    name: str
    spec: str
    """All that is needed to load it again, as JSON."""
    languages: tuple[str, ...]
    again: bool = False
    """Whether texts that could not be embedded are to be tried once more."""


class MadeVectors(Struct, frozen=True, array_like=True):
    """The vectors of one text, as float32 one after another; none if it has none."""

    pack: str
    row: int
    digest: bytes
    values: tuple[bytes, ...]


class VectorsMade(Message, frozen=True):
    """Some texts have vectors now, or were found to have none."""

    model: int
    made: tuple[MadeVectors, ...]


class ModelCompleted(Message, frozen=True):
    """No text waits for a vector."""


FileEvent = ChangesComing | FileChanged | FileGone | ParseFailed | ScanFinished
ReadOutcome = FileParsed | FileUnchanged | FileGone | ParseFailed
IndexEvent = ReadOutcome | ScanFinished
VectorChange = AimAt | VectorsMade | ModelCompleted
