"""Take secrets out of a text, and what identifies people unless it stays private.

The order of the patterns matters: what one has replaced, the next ones leave alone.
Words end where their letters do, so that Japanese may stand right beside them.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from ubp.packs.registry.patterns import Later, later

__all__ = ("Privacy", "Redaction", "Redactor")

Privacy = Literal["aggregated", "federated", "private"]


class Redaction(Struct, frozen=True):
    """What was taken out, and how often."""

    type: str
    count: int


class _Rule(NamedTuple):
    type: str
    pattern: Later
    keeps: str = ""
    """What stays in front of the mark, as a template of the match."""
    spares: Later | None = None
    """Values that only look like one."""


def _compiled(pattern: str, flags: int = 0) -> Later:
    return later(pattern, re.ASCII | flags)


_ALONE = r"(?<![A-Za-z0-9_])"
_NAMES_OF_SECRETS = (
    r"(?:password|passwd|(?:client[_-]?)?secret|token|api[_-]?key|api[_-]?secret"
    r"|access[_-]?token|auth[_-]?token|secret[_-]?(?:access[_-]?)?key)"
)

_SECRETS = (
    _Rule(
        "private_key",
        _compiled(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    _Rule(
        "connection_string",
        _compiled(
            _ALONE
            + r"(?:jdbc:)?(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?"
            r"|mssql|sqlserver|oracle|clickhouse|cassandra|cockroachdb|neo4j|bolt|kafka"
            r"|nats|mqtts?|memcached|couchbase|db2|snowflake)"
            r"(?:\+[a-z0-9]{1,20})?://[^\s\"'`<>]+",
            re.IGNORECASE,
        ),
    ),
    _Rule(
        "bearer_token",
        _compiled(
            _ALONE + r"(?P<word>[Bb]earer|BEARER)[ \t]+(?!kp_)[A-Za-z0-9._~+/-]{20,}=*"
        ),
        keeps=r"\g<word> ",
    ),
    _Rule(
        "jwt",
        _compiled(
            _ALONE + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"
        ),
    ),
    _Rule(
        "api_key",
        _compiled(
            _ALONE + r"(?:"
            r"sk-(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_-]{20,}"
            r"|sk-[A-Za-z0-9]{20,}"
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
            r"|gh[opsaru]_[A-Za-z0-9]{36,}"
            r"|github_pat_[A-Za-z0-9_]{22,}"
            r"|glpat-[A-Za-z0-9_-]{20,}"
            r"|(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"
            r"|AIza[0-9A-Za-z_-]{35}"
            r"|kp_[0-9a-fA-F]{16,}"
            r"|xox[bpras]-[A-Za-z0-9-]{8,}"
            r"|npm_[A-Za-z0-9]{36}"
            r"|hf_[A-Za-z0-9]{30,}"
            r")"
        ),
    ),
    _Rule(
        "password",
        _compiled(
            r"(?P<key>(?:(?<![A-Za-z0-9])" + _NAMES_OF_SECRETS + r"[\"']?"
            r"|パスワード|暗証番号|秘密鍵|トークン|(?:API|ＡＰＩ)キー)"
            # `::` is no assignment; these two are, and only of what is written out.
            r"[ \t\u3000]*(?:(?::=|=>)(?=[ \t]*[\"'])|=|:(?!:)|：|＝)[ \t\u3000]*)"
            r"(?P<quote>[\"'])?"
            # Up to the blank that ends it, or the quote that closes it.
            r"(?P<value>(?(quote)(?:(?!(?P=quote))[^\s\u3000])+"
            r"|[^\s\u3000]+?(?=[\"'`)\]},;]{0,4}(?:[\s\u3000]|\Z))))",
            re.IGNORECASE,
        ),
        keeps=r"\g<key>\g<quote>",
        # Marks that were put there, and what programs and guides write instead of one.
        spares=_compiled(
            r"[\"'`(]*(?:\[REDACTED:|bearer\b"
            r"|\$\{?[A-Z_][A-Z0-9_]*\}?|\$[{(]|\{\{?|<|%[A-Z_]+%|(?:await|new)\Z"
            r"|(?:string|str|bytes|bool|boolean|int|number|none|null|undefined|true"
            r"|false|optional)\b"
            r"|(?:self|this|args|config|settings|process|os|env|secrets|request|options"
            r"|opts|cfg|ctx)[.\[]"
            r"|[A-Za-z_][A-Za-z0-9_.]*\(|[^A-Za-z0-9]*\Z)",
            re.IGNORECASE,
        ),
    ),
)

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IDENTIFIERS = (
    _Rule(
        "email",
        _compiled(
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@"
            r"(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
        ),
    ),
    _Rule(
        "phone",
        _compiled(
            r"(?<![A-Za-z0-9_.+/-])(?:"
            r"\+\d(?:[- ]?\d){6,14}"
            r"|(?:1[-. ])?(?:\(\d{3}\)[ ]?|\d{3}[-.])\d{3}[-. ]\d{4}"
            r"|0\d-\d{4}-\d{4}|0\d{2}-\d{3,4}-\d{4}|0\d{3}-\d{2,3}-\d{4}|0\d{4}-\d-\d{4}"
            r"|\(0\d{1,4}\)[ ]?\d{1,4}-\d{4}"
            r"|0[5789]0\d{8}"
            r")(?![A-Za-z0-9_]|[-.]\d)"
        ),
    ),
    _Rule(
        "ip",
        _compiled(
            rf"(?<![A-Za-z0-9_.])(?:{_OCTET}\.){{3}}{_OCTET}(?![A-Za-z0-9_]|\.\d)"
        ),
    ),
    _Rule(
        "filepath",
        _compiled(
            r"(?:(?<![A-Za-z0-9._~-])/(?:home|Users)/[^\s/\"'`<>|:*?]+"
            r"(?:/[^\s\"'`<>|]*)?"
            r"|(?<![A-Za-z0-9])[A-Za-z]:\\{1,2}Users\\{1,2}[^\s\\\"'`<>|]+"
            r"(?:\\[^\s\"'`<>|]*)?)(?<![.,;:!?)\]])"
        ),
    ),
)

_SECRET_KEY = _compiled(_NAMES_OF_SECRETS, re.IGNORECASE)
_SOMEBODYS_KEY = _compiled(r"(?:.*[^A-Za-z0-9])?" + _NAMES_OF_SECRETS, re.IGNORECASE)
_MARK = "[REDACTED:{}]"


class Redactor:
    """Cleans the texts of one contribution, and counts what it took out."""

    def __init__(self, *, identifiers: bool) -> None:
        self._rules = (*_SECRETS, *(_IDENTIFIERS if identifiers else ()))
        self._counts: Counter[str] = Counter()

    @property
    def redactions(self) -> list[Redaction]:
        """What was taken out so far; by type, in the order of the rules."""
        order = (rule.type for rule in (*_SECRETS, *_IDENTIFIERS))
        return [
            Redaction(kind, self._counts[kind]) for kind in order if self._counts[kind]
        ]

    def text(self, text: str) -> str:
        """*text* without secrets and the like."""
        for rule in self._rules:
            text = rule.pattern().sub(self._replacing(rule), text)
        return text

    def value(self, value: Any) -> Any:
        """A value of JSON with every text in it cleaned, names of fields included."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(inner) for inner in value]
            case dict():
                return self._mapping(value)
            case _:
                return value

    def _mapping(self, value: Mapping[str, Any]) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for key, inner in value.items():
            name = self.text(key)
            while name in cleaned:  # two keys may have been two secrets
                name += "'"
            if _is_secret(key, inner):
                cleaned[name] = self._marked(_PASSWORD, inner)
            else:
                cleaned[name] = self.value(inner)
        return cleaned

    def _marked(self, rule: _Rule, value: Any) -> Any:
        """A value whose name says that it is a secret."""
        if not isinstance(value, str):
            self._counts[rule.type] += 1
            return _MARK.format(rule.type)
        before = sum(self._counts.values())
        cleaned = self.text(value)
        if sum(self._counts.values()) > before:  # it was one of a kind we know
            return cleaned
        if rule.spares is not None and rule.spares().match(value):
            return value
        self._counts[rule.type] += 1
        return _MARK.format(rule.type)

    def _replacing(self, rule: _Rule) -> Callable[[re.Match[str]], str]:
        def replace(found: re.Match[str]) -> str:
            if rule.spares is not None and rule.spares().match(found["value"]):
                return found[0]
            self._counts[rule.type] += 1
            return found.expand(rule.keeps) + _MARK.format(rule.type)

        return replace


_PASSWORD = _SECRETS[-1]


def _is_secret(key: str, value: Any) -> bool:
    """Whether a field of that name holds a secret, and holds it in the open."""
    if isinstance(value, str):
        return _SOMEBODYS_KEY().fullmatch(key) is not None
    # A number under a longer name counts something: next_token, min_token.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and _SECRET_KEY().fullmatch(key) is not None
