"""What of a chunk is embedded: its text, and above it what it is about."""

import hashlib
from collections.abc import Sequence

from ubp.toolkit import PassageText

__all__ = ("digest_of", "passage")


def passage(
    title: str,
    tags: Sequence[str],
    context: str,
    parent_heading: str,
    heading: str,
    content: str,
) -> PassageText:
    """The text that stands for a chunk.

    A chunk cut out of its note often does not say what it talks about; the title, the
    tags, the end of the chunk before it and the headings do.
    """
    parts = [f"title:{title}|tags:{','.join(tags)}"]
    if context:
        parts.append(f"[prev] {context}")
    parts += [f"# {parent_heading}", f"## {heading}"]
    return PassageText("\n\n".join(parts), content)


def digest_of(text: PassageText) -> bytes:
    """Equal for equal texts, which share a vector."""
    whole = f"{text.head}\n\n{text.body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).digest()[:16]
