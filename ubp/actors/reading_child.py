"""The reading process: files in, outcomes out, over its own standard streams.

Parsing is Python, and Python in a thread would take the interpreter from the event
loop and from every query. In a process of its own, at low priority, it cannot; and a
file that hangs or kills a parser costs this process, not the service.

Frames hold MessagePack messages. A ``ReaderSetup`` goes in first, then one list of
``FileChanged`` after the other; for each change, in order, one ``ReadOutcome`` or
``ReaderBug`` comes out.
"""

import hashlib
import os
import signal
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from ubp.actors.frames import read_frame, write_frame
from ubp.config import Settings
from ubp.errors import CallerError
from ubp.messages import (
    FileChanged,
    FileGone,
    FileParsed,
    FileUnchanged,
    ParseFailed,
    ReadOutcome,
)
from ubp.packs import enabled
from ubp.project import Project
from ubp.reading.markdown import normalise
from ubp.reading.walk import open_file, stamp_of
from ubp.toolkit import FileText, Reading, Source

__all__ = ("ReaderBug", "ReaderSetup", "main", "outcome")

_NICENESS = 10
_FEW = 4
"""The priority of the process once it is given more files than a person saves at once.
For one of those somebody waits, on a busy machine above all."""


class ReaderSetup(Struct, frozen=True):
    """The project as its server knows it: on disk it may be another by now."""

    root: str
    docs_dir: str
    settings: Settings
    packs: list[str]

    @classmethod
    def of(cls, project: Project, packs: Sequence[str]) -> "ReaderSetup":
        return cls(
            str(project.root), str(project.docs_dir), project.settings, list(packs)
        )

    @property
    def project(self) -> Project:
        return Project(Path(self.root), self.settings, Path(self.docs_dir))


class ReaderBug(Struct, frozen=True, tag=True):
    """Our own code failed on a file."""

    pack: str
    path: str
    trace: str


def outcome(
    change: FileChanged, project: Project, source: Source, reading: Reading[Struct]
) -> ReadOutcome:
    """Read one file and understand it."""
    pack, path = change.pack, change.path
    full = source.folder / path
    try:
        if not os.path.realpath(full).startswith(_real_folder(source.folder)):
            return ParseFailed(pack, path, "A symbolic link that leaves the folder.")
        with open_file(full) as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            raw = file.read()
    except (FileNotFoundError, NotADirectoryError):
        # Deleted since it was seen; the index must not keep what is not there.
        return FileGone(pack, path)
    except OSError as error:
        why = error.strerror or "input/output error"
        return ParseFailed(pack, path, f"Cannot be read: {why}.")
    digest = hashlib.sha256(raw).hexdigest()
    if digest == change.digest:
        return FileUnchanged(pack, path, stamp, digest)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return ParseFailed(
            pack, path, f"Not UTF-8: byte {error.start} is invalid.", stamp
        )
    if "\x00" in text:
        return ParseFailed(pack, path, "Contains NUL bytes, so it is not text.", stamp)
    try:
        record, warnings = reading.read(FileText(path, normalise(text), project))
    except CallerError as error:
        return ParseFailed(pack, path, error.message, stamp)
    encoded = msgspec.msgpack.encode(record)
    warned = tuple(warnings)
    return FileParsed(pack, path, stamp, digest, encoded, warned, change.reset)


@cache
def _real_folder(folder: Path) -> str:
    return os.path.realpath(folder).rstrip(os.sep) + os.sep


def main() -> None:
    """Serve frames until the input ends."""
    # The service decides when this ends; an interrupt at the terminal is its business.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    frames_in = os.fdopen(os.dup(0), "rb")
    frames_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not print into the frames
    setup = read_frame(frames_in)
    if setup is None:
        return
    wanted = msgspec.msgpack.decode(setup, type=ReaderSetup)
    project = wanted.project
    readings = {
        pack.name: (pack.reading.source(project), pack.reading)
        for pack in enabled(wanted.packs)
        if pack.reading is not None
    }
    decode = msgspec.msgpack.Decoder(list[FileChanged]).decode
    is_nice = not hasattr(os, "nice")
    while (frame := read_frame(frames_in)) is not None:
        changes = decode(frame)
        if not is_nice and len(changes) > _FEW:
            os.nice(_NICENESS)
            is_nice = True
        for change in changes:
            source, reading = readings[change.pack]
            try:
                answer: ReadOutcome | ReaderBug = outcome(
                    change, project, source, reading
                )
            except Exception:  # noqa: BLE001 - reported with its traceback
                answer = ReaderBug(change.pack, change.path, traceback.format_exc())
            write_frame(frames_out, msgspec.msgpack.encode(answer))


if __name__ == "__main__":
    main()
