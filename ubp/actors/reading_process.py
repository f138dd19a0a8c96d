"""The parent's side of the reading process: start it, feed it, replace it.

Blocking; the parser actor calls it in a thread.
"""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from ubp.actors.frames import read_frame, write_frame
from ubp.actors.reading_child import ReaderBug, ReaderSetup
from ubp.messages import (
    FileChanged,
    FileGone,
    FileParsed,
    FileUnchanged,
    ParseFailed,
)
from ubp.project import Project

__all__ = ("Answer", "ReaderLost", "ReadingProcess")

Answer = FileParsed | FileUnchanged | FileGone | ParseFailed | ReaderBug

_PIPE = 1_048_576
"""Bytes of answers that may lie ready, where the system allows it (the most Linux
gives to anybody): with fewer the two take turns instead of working side by side."""

_decode = msgspec.msgpack.Decoder(Answer).decode


class ReaderLost(Exception):
    """The process ended before it answered for every file."""


class ReadingProcess:
    """A reading process, started when it is first needed."""

    def __init__(self, project: Project, packs: Sequence[str]) -> None:
        # The current directory may hold anything; it is not ours to import.
        self._command = [sys.executable, "-P", "-m", "ubp.actors.reading_child"]
        self._setup = msgspec.msgpack.encode(ReaderSetup.of(project, packs))
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, changes: Sequence[FileChanged], answers: list[Answer]) -> None:
        """Append an answer for each change to *answers*, in order.

        Raises:
            ReaderLost: The process ended; the file after the last answer is at fault.
        """
        process = self.start()
        if process.stdin is None or process.stdout is None:
            raise ReaderLost
        try:
            write_frame(process.stdin, msgspec.msgpack.encode(changes))  # type: ignore[arg-type]
            for _ in changes:
                frame = read_frame(process.stdout)  # type: ignore[arg-type]
                if frame is None:
                    raise ReaderLost
                answers.append(_decode(frame))
        except (OSError, ValueError) as error:
            raise ReaderLost from error

    def close(self) -> None:
        """End the process at once; there is nothing it could lose."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                # Closing flushes what a killed process will never take.
                try:
                    stream.close()
                except OSError:
                    continue

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process unless it runs; until it is needed it can get ready."""
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pipesize=_PIPE,
            )
            if self._process.stdin is not None:
                with suppress(OSError):  # ended already, which whoever reads finds out
                    write_frame(self._process.stdin, self._setup)  # type: ignore[arg-type]
        return self._process
