"""What of a section is embedded: its text, and above it what it is about."""

import hashlib
import re

from ubp.toolkit import PassageText

__all__ = ("digest_of", "passage")

_NO_WORDS = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{65,}")
"""Hashes and embedded images: no words, as for the full-text index, and no meaning.
Looked for where a word begins, not from each of its letters."""


def passage(title: str, heading_path: str, content: str) -> PassageText:
    """The text that stands for a section.

    The head is the page's title and the headings above; a section cut out of its page
    often does not say what it talks about.
    """
    head = f"{title}\n{heading_path}" if heading_path else title
    # The first section begins with the page's own heading, which the head has already.
    body = content.removeprefix(title).lstrip()
    return PassageText(head, _NO_WORDS.sub("…", body))


def digest_of(text: PassageText) -> bytes:
    """Equal for equal texts, which share a vector."""
    whole = f"{text.head}\x00{text.body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).digest()[:16]
