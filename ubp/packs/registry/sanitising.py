"""Make a text safe to be read by others, or refuse it. Keeps nothing between calls.

Comments and tags of HTML are taken out of prose, where they would be read but not
seen; code is left as it is. Characters that cannot be seen are no mistake anybody
makes by hand: a text with one of them is refused.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ubp.packs.registry.injection import (
    DEFAULT_THRESHOLDS,
    Assessment,
    Thresholds,
    assess,
)
from ubp.packs.registry.problems import UnsafeContribution
from ubp.reading.markdown import normalise
from ubp.reading.markdown_regions import is_inside, regions

__all__ = ("Sanitised", "assessed", "sanitise", "visible")

_MOST_ROUNDS = 8
"""Taking out a tag may join what was around it to another; honest texts never do."""


class Sanitised(NamedTuple):
    """A text that may be stored, and what is to be known of it."""

    text: str
    warnings: list[str]
    assessment: Assessment


def sanitise(
    text: str,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    decoded: Callable[[str], Iterable[str]] = lambda _: (),
) -> Sanitised:
    """*text* as it may be stored.

    *decoded* returns what readers of it get to see but is written in another way.

    Raises:
        UnsafeContribution: It hides something, or gives orders to its reader.
    """
    text = normalise(text.removeprefix("\ufeff"))
    text, warnings = _without_html(text)
    text, cleaned = visible(text)
    warnings += cleaned
    read = list(decoded(text))
    for each in read:
        if visible(each)[1]:
            raise UnsafeContribution("A control character is written as an escape.")
    assessment, suspicions = assessed([text, *read], thresholds)
    return Sanitised(text, warnings + suspicions, assessment)


def visible(text: str) -> tuple[str, list[str]]:
    """*text* composed, without control characters; and a warning if it had any.

    Raises:
        UnsafeContribution: It has characters that cannot be seen.
    """
    hidden = _HIDDEN.search(_FLAG.sub("", text))
    if hidden:
        raise UnsafeContribution(
            "The text has an invisible character, as steganography uses them: "
            f"{_named(hidden[0])} in line {text.count(chr(10), 0, hidden.start()) + 1}."
        )
    without = _CONTROL.sub("", text)
    warnings = [] if without == text else ["Control characters were removed."]
    return unicodedata.normalize("NFC", without), warnings


def assessed(
    texts: Iterable[str], thresholds: Thresholds
) -> tuple[Assessment, list[str]]:
    """What the rules say of these texts, and a warning for what they found.

    Raises:
        UnsafeContribution: Too many of them fired.
    """
    assessment = assess(texts, thresholds)
    names = ", ".join(assessment.patterns)
    if assessment.verdict == "rejected":
        raise UnsafeContribution(
            f"The text reads like a prompt injection (weight {assessment.raw:g}, "
            f"score {assessment.score:g}): {names}.",
            assessment,
        )
    if assessment.verdict == "suspicious":
        return assessment, [f"The text is suspicious of prompt injection: {names}."]
    return assessment, [f"Rules of prompt injection matched: {names}."] if names else []


_COMMENT = re.compile("<!--")
_TAG = re.compile(
    r"<(?:/[A-Za-z][A-Za-z0-9:_-]*\s*"
    r"|[A-Za-z][A-Za-z0-9_-]*(?:\s[^<>]*)?/?"
    r"|![A-Za-z][^<>]*|\?[A-Za-z][^<>]*\?)>"
)


def _without_html(text: str) -> tuple[str, list[str]]:
    warnings: dict[str, None] = {}
    for _ in range(_MOST_ROUNDS):
        before = text
        text = _outside_code(text, _COMMENT, _end_of_comment)
        if text != before:
            warnings["HTML comments were removed."] = None
        commentless = text
        text = _outside_code(text, _TAG, re.Match.end)
        if text != commentless:
            warnings["HTML tags were removed."] = None
        if text == before:
            return text, list(warnings)
    raise UnsafeContribution("HTML tags are hidden inside one another.")


def _end_of_comment(opening: re.Match[str]) -> int | None:
    """Where the comment ends; None where it is none, as nothing closes it.

    At the beginning of a line an open one hides all that follows.
    """
    text = opening.string
    closing = text.find("-->", opening.end())
    if closing >= 0:
        return closing + len("-->")
    line = text.rfind("\n", 0, opening.start()) + 1
    return None if text[line : opening.start()].strip(" ") else len(text)


def _outside_code(
    text: str,
    pattern: re.Pattern[str],
    end_of: Callable[[re.Match[str]], int | None],
) -> str:
    """*text* without what begins in prose with *pattern*."""
    if "<" not in text:
        return text
    # A tag would begin a block in which fences count for nothing; it is going to go.
    code = regions(_TAG.sub(_as_prose, text)).code
    kept: list[str] = []
    at = 0
    while found := pattern.search(text, at):
        if is_inside(found.start(), code):
            # Go on behind the code: what begins in there may not reach out of it.
            end = code[bisect_right(code, found.start(), key=_start) - 1].end
            kept.append(text[at:end])
        elif (closed := end_of(found)) is None:
            break
        else:
            end = closed
            kept.append(text[at : found.start()])
        at = end
    kept.append(text[at:])
    return "".join(kept)


def _as_prose(tag: re.Match[str]) -> str:
    """As long, and no tag."""
    return f"x{tag[0][1:]}"


def _start(region: tuple[int, int]) -> int:
    return region[0]


_EMOJI = (
    "[\u00a9\u00ae\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\ufe0f]"
)
_HIDDEN = re.compile(
    # The zero-width joiner makes one emoji of several; between letters it only hides.
    f"(?<!{_EMOJI})\u200d|\u200d(?!{_EMOJI})"
    "|[\u200b\u200c\u200e\u200f\u2028-\u202f\u2060-\u2064\u2066-\u2069\ufeff]"
    "|[\ufff9-\ufffb]"
    "|[\U000e0000-\U000e007f]"
    # One selector chooses how a character looks; several in a row are a message.
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
)
# Tags spell the flags of regions; elsewhere they spell what nobody sees.
_FLAG = re.compile(
    "(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _named(character: str) -> str:
    return f"U+{ord(character[0]):04X}"
