"""Is a text written to take over whoever reads it? A pure function of the text.

Every rule that fires adds its weight; what is decided is decided on the sum. Dividing
by all weights, as ``score`` does, would let one blatant override pass for harmless.
The rules know English and Japanese. They keep nothing between calls.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from msgspec import Struct

from ubp.packs.registry.patterns import later
from ubp.reading.markdown_regions import Regions, is_inside, regions

__all__ = (
    "DEFAULT_THRESHOLDS",
    "RULES",
    "Assessment",
    "Rule",
    "Thresholds",
    "Verdict",
    "assess",
)

Verdict = Literal["safe", "suspicious", "rejected"]


class Thresholds(NamedTuple):
    """From which sum of weights a text is suspicious, and from which rejected."""

    reject_at: float = 0.6
    suspicious_at: float = 0.25


DEFAULT_THRESHOLDS = Thresholds()


class Assessment(Struct, frozen=True):
    """What the rules say of a text."""

    verdict: Verdict
    raw: float
    """The sum of the weights of the rules that fired."""
    score: float
    """The same as a share of all weights."""
    patterns: tuple[str, ...]
    """The names of the rules that fired."""


class _Text(NamedTuple):
    """One text as the rules look at it."""

    plain: str
    folded: str
    """With full-width letters and the like made ordinary, so that they hide nothing."""
    regions: Regions


class Rule(NamedTuple):
    """One sign of an attack."""

    name: str
    weight: float
    fires: Callable[[_Text], bool]


def assess(
    texts: Iterable[str], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Assessment:
    """What the rules say of these texts together; each rule counts once."""
    fired: set[str] = set()
    for text in texts:
        looked_at = _Text(text, unicodedata.normalize("NFKC", text), regions(text))
        fired.update(
            rule.name
            for rule in RULES
            if rule.name not in fired and rule.fires(looked_at)
        )
    matched = [rule for rule in RULES if rule.name in fired]
    raw = round(sum(rule.weight for rule in matched), 3)
    return Assessment(
        _verdict(raw, thresholds),
        raw,
        min(1.0, round(raw / _ALL_WEIGHTS, 3)),
        tuple(rule.name for rule in matched),
    )


def _verdict(raw: float, thresholds: Thresholds) -> Verdict:
    if raw >= thresholds.reject_at:
        return "rejected"
    return "suspicious" if raw >= thresholds.suspicious_at else "safe"


# What may stand before the first word of a line: blanks, and marks of lists and quotes.
_LINE = r"^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*)*"

# Instructions, as Japanese calls them; whose, or which. A single character that ends
# another word, as in "address" or "name", means none of that.
_TOLD = "(?:指示|命令|指令|プロンプト)"
_ORDER = "(?:指示|命令|指令|プロンプト|ルール|制約)"
_ORDERS = f"{_ORDER}(?:(?:や|と|、|・|および|及び){_ORDER})*"
_ALL = "(?:すべて|全て|あらゆる|一切|全部)の"
_EARLIER = (
    "(?:(?:以前|これ以前|これまで|今まで|ここまで|これより前|前述|上記|先ほど|過去|従来"
    "|直前|最初|前回|前回まで|あなたへ|システム|(?<![一-龥])[前元先他])の?"
    f"|以前に与えられた|与えられた)(?:{_ALL})?"
)
_EARLIER_ORDERS = f"(?:{_EARLIER}{_ORDERS}|{_ALL}{_TOLD})"
_ALL_OF_THEM = "[をはも]?(?:、)?(?:すべて|全て|全部|一切)?(?:、)?"
# Told to the reader; what a program does, or is said to be, goes on in other ways.
_DO = "(?:して(?![いおもはし])|し(?:ろ|なさい|、|$)|せよ|すること|[。!]|$)"


def _phrase(*patterns: str) -> Callable[[_Text], bool]:
    """Fires where one of the patterns matches, whatever the case.

    A word ends where its letters do: Japanese may follow without a blank. Other blanks
    than ASCII's have been made ordinary.
    """
    flags = re.ASCII | re.IGNORECASE | re.MULTILINE
    compiled = later("|".join(patterns), flags)
    return lambda text: compiled().search(text.folded) is not None


def _characters(pattern: str) -> Callable[[_Text], bool]:
    """Fires where the pattern matches the text as it is."""
    compiled = later(pattern)
    return lambda text: compiled().search(text.plain) is not None


_WIDE_GAP = re.compile(r"(?<=\S)[ \t]{21,}")


def _has_wide_gap(text: _Text) -> bool:
    """Blanks in a row, where nobody aligns columns or indents."""
    return any(
        not is_inside(gap.start(), text.regions.fences)
        and not is_inside(gap.start(), text.regions.tables)
        for gap in _WIDE_GAP.finditer(text.plain)
    )


_URL = re.compile(r"https?://([^\s/?#\"'`<>()\[\]\\|]+)", re.IGNORECASE)
_HARMLESS_HOSTS = (
    "localhost",
    "127.0.0.1",
    "example.com",
    "example.org",
    "github.com",
    "githubusercontent.com",
    "npmjs.com",
    "openknowledgepulse.org",
)
_PLACEHOLDER = re.compile(r"[${}%]")


def _has_foreign_url_in_fence(text: _Text) -> bool:
    return any(
        _is_foreign(found[1])
        for start, end in text.regions.fences
        for found in _URL.finditer(text.plain, start, end)
    )


def _is_foreign(authority: str) -> bool:
    host = authority.rpartition("@")[2].partition(":")[0].rstrip(".,;").lower()
    if not host or _PLACEHOLDER.search(host):
        return False
    return not any(
        host == known or host.endswith(f".{known}") for known in _HARMLESS_HOSTS
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "ignore-previous-instructions",
        0.30,
        _phrase(
            r"\bignore\s+(?:all\s+)?(?:of\s+)?(?:the\s+|your\s+|my\s+|any\s+)?"
            r"(?:previous|prior|earlier|preceding)\s+instructions\b",
            f"{_EARLIER_ORDERS}{_ALL_OF_THEM}無視{_DO}",
        ),
    ),
    Rule(
        "forget-instructions",
        0.30,
        _phrase(
            r"\bforget\s+(?:all\s+)?(?:of\s+)?"
            r"(?:(?:the|these|those|any|your|prior|previous)\s+){0,2}instructions\b",
            f"{_EARLIER_ORDERS}{_ALL_OF_THEM}忘れ(?:て(?![いもはし])|ろ|なさい|ること)",
        ),
    ),
    Rule(
        "disregard-instructions",
        0.30,
        _phrase(
            r"\bdisregard\s+(?:all\s+)?(?:of\s+)?"
            r"(?:(?:the|these|those|any|your|above|prior|previous)\s+){0,2}"
            r"instructions\b",
            f"{_EARLIER_ORDERS}{_ALL_OF_THEM}"
            "(?:に(?:は)?従わない(?:で|こと|よう)|に(?:は)?従うな"
            f"|(?:破棄|無効に){_DO}|取り消(?:して(?![いおもはし])|せ))",
            f"{_EARLIER}{_TOLD}は?(?:すべて|全て|全部|一切)?無効(?:です|だ|とする)",
        ),
    ),
    Rule(
        "override-prompt",
        0.30,
        _phrase(
            r"\boverride\s+(?:the\s+)?(?:your\s+)?(?:system\s+)?prompt\b",
            "(?:システム)?プロンプトを(?:すべて|全て)?上書き(?:し(?:て|ろ)|せよ)",
        ),
    ),
    Rule(
        "new-updated-instructions",
        0.30,
        _phrase(
            r"\b(?:new|updated)\s+instructions\s*:",
            r"(?:新しい|新たな|更新された|最新の)(?:指示|命令|指令)\s*:",
        ),
    ),
    Rule(
        "you-are-now",
        0.25,
        _phrase(
            # What an honest guide says when a step is done is no new identity.
            _LINE + r"you\s+are\s+now\b"
            r"(?!\s+(?:ready|able|done|finished|connected|logged|set\s+up|good\s+to)\b)",
            _LINE + "(?:今|いま|現在|ただいま)(?:から|や)?、?(?:あなた|お前|君)は",
            _LINE + "(?:あなた|お前|君)は(?:(?:今|いま)(?:から|や)?|これから)、?"
            "[^\n。]{1,40}(?:です|だ|である)(?:。|$)",
        ),
    ),
    Rule(
        "pretend-to-be",
        0.25,
        _phrase(
            _LINE + r"pretend\s+(?:that\s+)?(?:you(?:\s+are|'re)|to\s+be)\b",
            _LINE + "[^\n。]{1,40}(?:の|な|である|になった)(?:ふり|振り)を"
            "(?:して|しろ|しなさい|せよ)",
        ),
    ),
    Rule(
        "act-as",
        0.25,
        _phrase(
            _LINE + r"act\s+as\b",
            _LINE + "[^\n。]{1,40}として(?:振る舞|ふるま|行動|応答|回答)"
            "(?:って|し)?(?:て?(?:ください|下さい|くれ)|え|ろ|なさい|いなさい|せよ)",
        ),
    ),
    Rule(
        "from-now-on-you",
        0.25,
        _phrase(
            r"\bfrom\s+now\s+on\s*(?:,\s*)?you\b",
            "(?:これから|今後|これ以降|以降|以後)(?:は)?、?(?:あなた|お前|君)は",
        ),
    ),
    Rule(
        "imagine-you-are",
        0.25,
        _phrase(
            _LINE + r"imagine\s+(?:that\s+)?you(?:\s+are|'re)\b",
            _LINE + "(?:あなた|自分)が[^\n。]{1,40}(?:だ|である)と"
            "(?:想像|仮定)(?:して|しろ|しなさい|せよ)",
        ),
    ),
    Rule("llama-inst-tag", 0.20, _phrase(r"\[INST\]")),
    Rule("llama-inst-close-tag", 0.20, _phrase(r"\[/INST\]")),
    Rule("chatml-im-start", 0.20, _phrase(r"<\|im_start\|>")),
    Rule("chatml-im-end", 0.20, _phrase(r"<\|im_end\|>")),
    Rule("llama-sys-open", 0.20, _phrase("<<SYS>>")),
    Rule("llama-sys-close", 0.20, _phrase("<</SYS>>")),
    Rule("system-tag-bracket", 0.20, _phrase(r"\[SYSTEM\]")),
    Rule(
        "markdown-role-header",
        0.20,
        _phrase(
            r"^ {0,3}###[ \t]+(?:system|human|assistant|"
            "システム|人間|ユーザー|アシスタント)[ \t]*:"
        ),
    ),
    Rule("long-base64-block", 0.15, _characters(r"[A-Za-z0-9+/]{100}")),
    Rule("bidi-override-chars", 0.15, _characters("[\u202a-\u202e\u2066-\u2069]")),
    Rule(
        "zero-width-steganography",
        0.15,
        _characters("[\u200b-\u200d\u2060\ufeff]{3}"),
    ),
    Rule("excessive-whitespace-encoding", 0.15, _has_wide_gap),
    Rule(
        "send-data-pattern",
        0.20,
        _phrase(
            r"\bsend\s+(?:this|the|all)\s+(?:to|via)\b",
            r"\bsend\s+all\s+(?:of\s+)?(?:the\s+|this\s+|your\s+)?(?:data|information|"
            r"conversations?|messages|files|secrets|credentials|keys)\s+(?:to|via)\b",
            "(?:これ|すべて|全て|全部|"
            "(?:すべて|全て)の(?:データ|情報|会話|ファイル|内容|履歴|秘密))を"
            "[^\n。]{0,30}?(?:に|へ|で)(?:送信|送って|送れ|転送)",
        ),
    ),
    Rule(
        "output-to-endpoint",
        0.20,
        _phrase(
            r"\boutput\s+(?:to\s+the\s+following|to\s+this|the\s+following|this|to)"
            r"\s+(?:url|endpoint|webhook)\b",
            "(?:次の|以下の|この|下記の)(?:URL|エンドポイント|ウェブフック|Webhook)"
            "(?:に|へ)(?:出力|送信|送って|投稿)(?!さ)",
        ),
    ),
    Rule("suspicious-url-in-code-block", 0.20, _has_foreign_url_in_fence),
)

_ALL_WEIGHTS = round(sum(rule.weight for rule in RULES), 3)
