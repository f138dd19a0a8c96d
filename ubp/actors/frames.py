"""Frames between a process and its child: four bytes of length, then the message."""

from typing import BinaryIO

__all__ = ("HEADER", "framed", "read_frame", "write_frame")

HEADER = 4


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame, or None at the end."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    length = int.from_bytes(header, "big")
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: BinaryIO, body: bytes) -> None:
    stream.write(framed(body))
    stream.flush()


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(HEADER, "big") + body
