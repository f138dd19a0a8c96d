"""What a word may be called in the other language.

``words.tsv`` has a line for each word, sorted by its bytes, and is searched as it is:
no time to load, and no more memory than its size. Words are in the form of
``lexicon.fold``. ``CARD.md`` beside it tells how it was made.

Without the file, or with a damaged one, no word has a translation, and what is in the
other language is found by meaning alone. ``fault`` says so.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

__all__ = ("CARD", "FOLDER", "HINT", "fault", "parts", "size", "translations")

FOLDER = Path(__file__).parent
CARD = "CARD.md"

_WORDS = "words.tsv"
_SUMS = "SHA256SUMS"

HINT = (
    "Install ubp again, as you did before (pip needs --force-reinstall). Until then "
    "pages in the other language are found by meaning alone."
)
"""What to do about a fault."""

_LONGEST_PART = 16
"""Characters of a Japanese word that is looked for in a run."""


def translations(word: str, folder: Path = FOLDER) -> list[str]:
    """What *word*, folded, may be called in the other language, the likeliest first."""
    lines = _lines(folder)
    key = f"\n{word}\t".encode()
    low, high = 0, len(lines) - 1
    while low < high:
        # The line in the middle, with the line feed before it.
        start = lines.rfind(b"\n", low, (low + high) // 2 + 1)
        end = lines.index(b"\n", start + 1)
        if lines.startswith(key, start):
            return lines[start + len(key) : end].decode().split(" ")
        if lines[start:end] < key:
            low = end
        else:
            high = start
    return []


def parts(run: str, folder: Path = FOLDER) -> list[tuple[str, list[str]]]:
    """The words of a run of kana and kanji, in order, with what each may be called.

    The longest that is known comes first; what belongs to none is left out.
    """
    found: list[tuple[str, list[str]]] = []
    start = 0
    while start < len(run):
        longest = min(_LONGEST_PART, len(run) - start)
        for length in range(longest, 1, -1):
            word = run[start : start + length]
            if others := translations(word, folder):
                found.append((word, others))
                start += length
                break
        else:
            start += 1
    return found


def fault(folder: Path = FOLDER) -> str | None:
    """What is wrong with the file; ``None`` if it is whole."""
    return None if _lines(folder) else "The dictionary is missing or damaged."


def size(folder: Path = FOLDER) -> int:
    """How many words have translations."""
    return max(0, _lines(folder).count(b"\n") - 1)


@lru_cache(maxsize=4)
def _lines(folder: Path) -> bytes:
    """All lines, each between two line feeds; nothing where they are not whole."""
    try:
        content = (folder / _WORDS).read_bytes()
        sums = (folder / _SUMS).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return b""
    if sums.split()[:1] != [hashlib.sha256(content).hexdigest()]:
        return b""
    return b"\n" + content
