"""What of a section is embedded: its text, and above it what it is about."""

import hashlib

from ubp.packs.specs.languages import Policy
from ubp.packs.specs.sections import EXCERPT
from ubp.toolkit import PassageText

__all__ = ("PACK_NAME", "digest_of", "passage")

PACK_NAME = "specs"
"""Whose rows the sections are, among the vectors of all packs."""


def passage(path: str, fulltext: str, policy: Policy) -> PassageText:
    """The text that stands for a section.

    Whoever embeds may be a service on the network: of a source that allows excerpts
    only, it is given no more than one.
    """
    body = fulltext if policy == "local_fulltext_ok" else fulltext[:EXCERPT]
    return PassageText(path, body)


def digest_of(text: PassageText) -> bytes:
    """Equal for equal texts, which share a vector."""
    whole = f"{text.head}\x00{text.body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).digest()[:16]
