"""What ``columns.toml`` says of a board. Every key is optional, and none is in vain.

A file that is not TOML, or a value that does not fit, is a warning; all else counts.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, get_args

from ubp.errors import shortened
from ubp.packs.board.names import DONE, column_key, is_column_name
from ubp.packs.board.ulids import ulid_or_none

T = TypeVar("T")

__all__ = (
    "DEFAULT_COLUMNS",
    "FILE_NAME",
    "Column",
    "Rules",
    "parsed_rules",
    "unreadable_rules",
)

FILE_NAME = "columns.toml"
DEFAULT_COLUMNS = ("backlog", "doing", "review")

Enforcement = Literal["warn", "error", "off"]
ParentDone = Literal["enforce", "warn", "ignore"]
Cycles = Literal["error", "warn"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column that the file names."""

    key: str
    title: str
    wip_limit: int = 0
    """The most cards that should be in it; 0 is any number."""


_DEFAULTS = tuple(Column(key, key) for key in DEFAULT_COLUMNS)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a board is to be."""

    columns: tuple[Column, ...] = _DEFAULTS
    is_given: bool = False
    """Whether there is a file, so that other columns than these have to exist."""
    wip_limits: Mapping[str, int] = field(default_factory=dict)
    """By key of the column."""
    wip_enforce: Enforcement = "warn"
    parent_done: ParentDone = "warn"
    relation_cycle: Cycles = "error"
    hot_columns: tuple[str, ...] = ()
    debounce_ms: int = 300
    max_batch: int = 50
    auto_rename: bool = False
    rename_suffix: str = "dup"
    renders: bool = False
    render_debounce_ms: int = 300
    progress_parents: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    is_readable: bool = True
    """Whether the file, if there is one, could be read at all."""


def parsed_rules(text: str | None) -> Rules:
    """The rules in *text*; without any, those of a board without the file."""
    if text is None:
        return Rules()
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return _without_file(f"{FILE_NAME} is not valid TOML: {error}.")
    return _Parser(raw).rules()


def unreadable_rules(why: str) -> Rules:
    """Those of a board whose file cannot be read."""
    return _without_file(f"{FILE_NAME} cannot be read: {why}.")


def _without_file(warning: str) -> Rules:
    return Rules(warnings=(warning,), is_readable=False)


class _Parser:
    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw
        self._warnings: list[str] = []

    def rules(self) -> Rules:
        columns, limits = self._columns()
        limits |= self._limits()
        watch, writer = self._table("watch"), self._table("writer")
        render, policy = self._table("render"), self._table("policy")
        suffix = self._suffix(writer)
        rules = Rules(
            columns=columns or _DEFAULTS,
            is_given=True,
            wip_limits={key: limit for key, limit in limits.items() if limit},
            wip_enforce=self._choice(policy, "wip_enforce", Enforcement, "warn"),
            parent_done=self._choice(policy, "parent_done", ParentDone, "warn"),
            relation_cycle=self._choice(policy, "relation_cycle", Cycles, "error"),
            hot_columns=self._texts(watch, "watch.hot_columns"),
            debounce_ms=self._number(watch, "watch.debounce_ms", 300),
            max_batch=self._number(watch, "watch.max_batch", 50) or 50,
            auto_rename=self._value(
                writer, "writer.auto_rename_on_conflict", bool, False
            ),
            rename_suffix=suffix,
            renders=self._value(render, "render.enabled", bool, False),
            render_debounce_ms=self._number(render, "render.debounce_ms", 300),
            progress_parents=self._parents(render),
        )
        return _with_warnings(rules, self._warnings)

    def _columns(self) -> tuple[tuple[Column, ...], dict[str, int]]:
        given = self._raw.get("columns", [])
        if not isinstance(given, list):
            self._warn("columns", "should be a list")
            return (), {}
        found: dict[str, Column] = {}
        limits: dict[str, int] = {}
        for each in given:
            table = each if isinstance(each, dict) else {"key": each}
            key = table.get("key")
            if not isinstance(key, str) or not is_column_name(key):
                self._warn("columns", f"{shortened(repr(key))} is no name of a column")
                continue
            title = self._value(table, "columns.title", str, key)
            limit = self._number(table, "columns.wip_limit", 0)
            if column_key(key) != DONE:
                found.setdefault(column_key(key), Column(key, title, limit))
            limits[column_key(key)] = limit
        return tuple(found.values()), limits

    def _limits(self) -> dict[str, int]:
        table = self._table("wip_limits")
        return {
            column_key(key): self._number(table, f"wip_limits.{key}", 0)
            for key in table
        }

    def _suffix(self, writer: dict[str, Any]) -> str:
        given = self._value(writer, "writer.rename_suffix", str, "dup").lstrip("-")
        if re.fullmatch(r"[\w-]{0,40}", given):
            return given
        self._warn("writer.rename_suffix", "should be letters and digits")
        return "dup"

    def _parents(self, render: dict[str, Any]) -> tuple[str, ...]:
        given = list(self._texts(render, "render.progress_parents"))
        one = self._value(render, "render.progress_parent", str, "")
        given = given or ([one] if one else [])
        found = [ulid_or_none(text) for text in given]
        if None in found:
            self._warn("render.progress_parents", "should be ids of cards")
        return tuple(dict.fromkeys(ulid for ulid in found if ulid is not None))

    def _table(self, key: str) -> dict[str, Any]:
        given = self._raw.get(key, {})
        if isinstance(given, dict):
            return given
        self._warn(key, "should be a table")
        return {}

    def _value(self, table: dict[str, Any], key: str, kind: type[T], default: T) -> T:
        given = table.get(key.rpartition(".")[2], default)
        if isinstance(given, kind):
            return given
        self._warn(key, f"should be a {_KINDS[kind]}")
        return default

    def _number(self, table: dict[str, Any], key: str, default: int) -> int:
        given = table.get(key.rpartition(".")[2], default)
        if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
            return given
        self._warn(key, "should be a number of at least 0")
        return default

    def _texts(self, table: dict[str, Any], key: str) -> tuple[str, ...]:
        given = table.get(key.rpartition(".")[2], [])
        if isinstance(given, list) and all(isinstance(each, str) for each in given):
            return tuple(given)
        self._warn(key, "should be a list of texts")
        return ()

    def _choice(self, table: dict[str, Any], key: str, kind: Any, default: Any) -> Any:
        given = table.get(key, default)
        if given in get_args(kind):
            return given
        self._warn(f"policy.{key}", f"should be one of {', '.join(get_args(kind))}")
        return default

    def _warn(self, key: str, what: str) -> None:
        self._warnings.append(f"{FILE_NAME}: {key} {what}.")


_KINDS: dict[type, str] = {str: "text", bool: "true or false"}


def _with_warnings(rules: Rules, warnings: list[str]) -> Rules:
    return replace(rules, warnings=tuple(dict.fromkeys(warnings)))
