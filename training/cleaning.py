"""Text of both languages without markup, mnemonics and placeholders; what is kept."""

import html
import re
import unicodedata

__all__ = (
    "CJK",
    "clean",
    "clean_message",
    "is_japanese",
    "skeleton",
    "suits",
    "words_of",
)

CJK = r"\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_JAPANESE = re.compile(f"[{CJK}]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\uac00-\ud7af]")
_TAG = re.compile(r"</?[a-zA-Z!?][^<>]{0,300}>")
_GAP = re.compile(rf"(?<=[{CJK}、。])[ \n]+(?=[{CJK}、。])")
_SPACE = re.compile(r"\s+")
_MNEMONIC_IN_BRACKETS = re.compile(r"[ (（]{1,2}[_&~]\w[)）]")
_PLACEHOLDER = re.compile(
    r"%\([\w.]+\)[a-z]|%[0-9]+\$[-+0-9.]*[a-zA-Z]+|%[-+0-9.*]*(?:l{0,2}|z|h)[a-zA-Z](?![A-Za-z])|%[0-9]"
    r"|\$\{[^}]*\}|\{\{[^}]*\}\}|\{[\w.:]{0,20}\}|\$\(\w+\)|\$\w{2,}\b|\[\[|\]\]|__\w+__"
)
_EMPTY = re.compile(
    r"\"\s*\"|'\s*'|“\s*”|‘\s*’|「\s*」|『\s*』|\(\s*\)|（\s*）|`\s*'|<\s*>"
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_ANCHOR = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*[A-Za-z0-9]|\d{2,}")
_COMMON = re.compile(
    r"\b(?:the|an?|of|to|is|in|and|for|this|be|or|not|with|on|that|you|it|are|from|by|can"
    r"|as|if|no|use|at|all|will|when|was|has|have|your)\b",
    re.IGNORECASE,
)

_MAX_CHARACTERS = 1400
_MIN_CHARACTERS = 2
_LONG = 40
"""English characters from which the ratio of lengths says something."""
_RATIO = (0.16, 1.2)
_PROSE = 70
"""English characters in which a common word is to be expected."""
_MIN_JAPANESE = 0.2
_MIN_LATIN = 0.5


def clean(text: str) -> str:
    """Plain text in one line; spaces between Japanese letters are layout and go."""
    text = unicodedata.normalize("NFC", text.replace("\u200b", "").replace("\xad", ""))
    text = _SPACE.sub(" ", text).strip()
    return _GAP.sub("", text)


def clean_message(text: str) -> str:
    """A message of a program as plain text: without what the program fills in."""
    text = html.unescape(_TAG.sub(" ", html.unescape(text)))
    text = text.replace("\\n", " ").replace("\\t", " ").replace('\\"', '"')
    text = _MNEMONIC_IN_BRACKETS.sub("", text)
    for mark in "_&~":
        if text.count(mark) == 1:
            text = re.sub(rf"{mark}(?=\w)", "", text)
    text = _PLACEHOLDER.sub(" ", text)
    text = _EMPTY.sub(" ", text)
    return clean(text).strip(" .。…:：-=*|/,、#") + _ending(text)


def _ending(text: str) -> str:
    """The full stop that belongs to a sentence, back after stripping."""
    text = text.rstrip()
    if text.endswith(".") and not text.endswith("..") and " " in text.strip():
        return "."
    return "。" if text.endswith("。") else ""


def is_japanese(text: str) -> bool:
    """Whether there is anything Japanese in a text."""
    return _JAPANESE.search(text) is not None


def words_of(text: str) -> frozenset[str]:
    """Latin words and numbers, which a translation leaves as they are."""
    return frozenset(word.lower() for word in _ANCHOR.findall(text))


def skeleton(text: str) -> str:
    """What is left of a text when case, numbers and punctuation do not count."""
    return re.sub(r"[\W\d_]+", " ", text.lower()).strip()


def suits(english: str, japanese: str) -> bool:
    """Whether two texts look like English and its Japanese translation."""
    lengths = len(english), len(japanese)
    if min(lengths) < _MIN_CHARACTERS or max(lengths) > _MAX_CHARACTERS:
        return False
    if is_japanese(english) or _OTHER_SCRIPT.search(english + japanese):
        return False
    letters = len(_JAPANESE.findall(japanese))
    dense = len(japanese.replace(" ", ""))
    if letters < _MIN_JAPANESE * dense:
        return False
    latin = sum(len(word) for word in _WORD.findall(english))
    if latin < _MIN_LATIN * len(english.replace(" ", "")):
        return False
    if lengths[0] > _LONG and not _RATIO[0] < lengths[1] / lengths[0] < _RATIO[1]:
        return False
    if lengths[0] > _PROSE and not (_COMMON.search(english) and _KANA.search(japanese)):
        return False
    return _share_words(english, japanese)


def _share_words(english: str, japanese: str) -> bool:
    """Latin words and numbers in the Japanese text come from the English one."""
    kept = words_of(japanese)
    return not kept or 2 * len(kept & words_of(english)) >= len(kept)
