"""Read the registry: all SQL of the registry pack that only reads.

Whoever asks is a *viewer*, and every statement that leads to an item has the condition
under which that viewer may see it: there is no way around it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from ubp import lexicon
from ubp.packs.registry.passages import ItemTexts, skill_texts, unit_texts
from ubp.packs.registry.skill_file import parse
from ubp.packs.registry.trust import Vote
from ubp.store.parameters import array, storable
from ubp.toolkit import PassageText

__all__ = (
    "SEEN",
    "Filter",
    "Item",
    "Merit",
    "Place",
    "Placed",
    "Viewer",
    "best",
    "closed_rows",
    "confirmations",
    "counts",
    "feedback",
    "hidden",
    "item_of",
    "item_texts",
    "items",
    "listed",
    "merits",
    "named",
    "passages",
    "placed",
    "recent_traces",
    "rows_of",
    "skill_list_token",
    "skills_after",
    "validators",
    "votes",
)

_REMEMBERED = 1_000
"""Traces that a new one is compared with."""


class Viewer(NamedTuple):
    """Who asks, and for which organisation; empty for none."""

    agent: str
    org: str


class Filter(NamedTuple):
    """What of that which the viewer may see is asked for."""

    kinds: tuple[str, ...]
    domain: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def is_narrow(self) -> bool:
        """Whether most of what is found at first may not be what is asked for."""
        return self.domain is not None or bool(self.tags)


class Placed(NamedTuple):
    """What decides on the place of an item in an answer."""

    row: int
    quality: float
    created_at: str
    is_own: bool


class Item(NamedTuple):
    """An item with all that is known of it."""

    row: int
    ident: str
    kind: str
    agent: str
    visibility: str
    """Who may see it as things stand."""
    asked: str
    """Whom it is for; more, if it waits to be confirmed."""
    name: str
    domain: str | None
    content: str
    details: dict[str, Any]
    computed: float
    reported: float | None
    positive: int
    negative: int
    quality: float
    status: str
    created_at: str
    updated_at: str
    source: str | None
    """The file that is its truth; None if it was contributed."""


class Place(NamedTuple):
    """A place in the list of skills. Nothing of those that cannot be seen is in it."""

    name: str
    ident: str


class Merit(NamedTuple):
    """Something an agent earned reputation by."""

    reason: str
    earned_at: str


# Under which condition a viewer may see an item.
SEEN = """(
    item.visibility = 'network' OR item.agent = :agent
    OR (item.visibility = 'org' AND :org <> '' AND item.org = :org)
)"""

_ASKED_FOR = f"""
    {SEEN} AND item.status <> 'quarantined'
    AND +item.kind IN (SELECT value FROM json_each(:kinds))
    AND (:tags IS NULL OR EXISTS (
        SELECT 1 FROM registry_tag AS tag WHERE tag.item_id = item.id
           AND tag.tag IN (SELECT value FROM json_each(:tags))))
"""  # noqa: S608

_IN_DOMAIN = "(:domain IS NULL OR +item.domain_key = :domain)"

_GOOD = "(item.quality >= :least OR item.agent = :agent)"

_PLACED = "item.id, item.quality, item.created_at, item.agent = :agent"

_PLACED_OF = f"""
    SELECT {_PLACED}
      FROM json_each(:rows) JOIN registry_item AS item ON item.id = value
     WHERE {_ASKED_FOR} AND {_IN_DOMAIN}
"""  # noqa: S608

# Two, so that each is answered from an index: few are in a domain, or good enough.
_ROWS_OF_DOMAIN = f"""
    SELECT item.id FROM registry_item AS item
     WHERE item.domain_key = :domain AND {_ASKED_FOR} AND {_GOOD}
"""  # noqa: S608
_ROWS_OF = f"""
    SELECT item.id FROM registry_item AS item WHERE {_ASKED_FOR} AND {_GOOD}
"""  # noqa: S608

_CLOSED_ROWS = f"""
    SELECT item.id FROM registry_item AS item
     WHERE item.visibility <> 'network' AND {SEEN} = :seen
"""  # noqa: S608

_CONFIRMATIONS = "SELECT confirmations FROM registry_rule"

_BEST = f"""
    SELECT {_PLACED} FROM registry_item AS item
     WHERE {_ASKED_FOR} AND {_IN_DOMAIN}
       AND (+item.quality >= :least OR +item.agent = :agent)
     ORDER BY item.quality DESC, item.created_at DESC, item.id LIMIT :limit
"""  # noqa: S608

_HIDDEN = f"""
    SELECT count(*) FROM registry_item AS item
     WHERE {_ASKED_FOR} AND {_IN_DOMAIN}
       AND item.quality < :least AND item.agent <> :agent
"""  # noqa: S608

_ITEM = """
    item.id, item.ident, item.kind, item.agent, item.visibility, item.asked, item.name,
    item.domain, item.content, item.details, item.computed, item.reported,
    item.positive, item.negative, item.quality, item.status, item.created_at,
    item.updated_at, item.source
"""

_ITEMS = f"""
    SELECT {_ITEM}
      FROM json_each(:rows) JOIN registry_item AS item ON item.id = value
     WHERE {SEEN}
"""  # noqa: S608

_ITEM_OF = f"""
    SELECT {_ITEM} FROM registry_item AS item
     WHERE item.ident = :ident AND {SEEN}
     ORDER BY item.agent <> :agent, item.id LIMIT 1
"""  # noqa: S608

_LISTED = f"""
    SELECT {_ITEM} FROM registry_item AS item
     WHERE {SEEN} AND (NOT :mine OR item.agent = :agent)
     ORDER BY item.created_at DESC, item.id DESC
"""  # noqa: S608

_OFFERED = f"""
    {SEEN} AND item.status <> 'quarantined' AND (NOT :skills OR item.kind = 'skill')
"""

_SKILLS_AFTER = f"""
    SELECT {_ITEM} FROM registry_item AS item
     WHERE item.kind = 'skill' AND (item.name, item.ident) > (:after, :after_ident)
       AND {_OFFERED}
     ORDER BY item.name, item.ident LIMIT :limit
"""  # noqa: S608

_NAMED = f"""
    SELECT item.name, item.ident, count(*) OVER () FROM registry_item AS item
     WHERE {_OFFERED}
       AND (instr(lower(item.name), lower(:typed)) OR instr(item.ident, :typed))
     ORDER BY item.quality DESC, item.name, item.ident LIMIT :limit
"""  # noqa: S608

_SKILL_LIST_TOKEN = f"""
    SELECT count(*), total(item.id) FROM registry_item AS item
     WHERE item.kind = 'skill' AND {_OFFERED}
"""  # noqa: S608

_VALIDATORS = """
    SELECT item_id, validator FROM registry_vote
     WHERE valid AND item_id IN (SELECT value FROM json_each(?)) ORDER BY voted_at
"""

_FEEDBACK = """
    SELECT validator, valid, feedback, voted_at FROM registry_vote
     WHERE item_id = ? ORDER BY voted_at, validator
"""

_VOTES = f"""
    SELECT vote.validator, item.agent, vote.valid
      FROM registry_vote AS vote JOIN registry_item AS item ON item.id = vote.item_id
     WHERE {SEEN}
"""  # noqa: S608

_MERITS = f"""
    SELECT merit.reason, merit.earned_at
      FROM registry_merit AS merit JOIN registry_item AS item ON item.id = merit.item_id
     WHERE merit.agent = :of AND {SEEN}
     ORDER BY merit.id
"""  # noqa: S608

_RECENT_TRACES = f"""
    SELECT item.id FROM registry_item AS item
     WHERE item.kind = 'ReasoningTrace' AND {SEEN}
     ORDER BY item.id DESC LIMIT {_REMEMBERED}
"""  # noqa: S608

_TEXTS = """
    SELECT item.id, item.kind, item.name, item.content
      FROM json_each(?) JOIN registry_item AS item ON item.id = value
"""

_COUNTS = f"""
    SELECT total(item.kind = 'skill'), total(item.kind <> 'skill')
      FROM registry_item AS item WHERE {SEEN}
"""  # noqa: S608


def placed(
    db: apsw.Connection, viewer: Viewer, wanted: Filter, rows: Iterable[int]
) -> list[Placed]:
    """Those of *rows* that are asked for and may be seen."""
    asked = {**_asked(viewer, wanted), "rows": array(rows)}
    return [_placed(row) for row in db.execute(_PLACED_OF, asked)]


def rows_of(
    db: apsw.Connection, viewer: Viewer, wanted: Filter, least: float
) -> list[int]:
    """All rows that are asked for, may be seen and are good enough."""
    statement = _ROWS_OF if wanted.domain is None else _ROWS_OF_DOMAIN
    asked = {**_asked(viewer, wanted), "least": least}
    return [row for (row,) in db.execute(statement, asked)]


def closed_rows(db: apsw.Connection, viewer: Viewer, *, seen: bool) -> list[int]:
    """What is not for everybody: that which the viewer may see, or may not."""
    asked = {**viewer._asdict(), "seen": seen}
    return [row for (row,) in db.execute(_CLOSED_ROWS, asked)]


def confirmations(db: apsw.Connection) -> int:
    """How many agents have to approve of an item before it is for everybody."""
    number: int = db.execute(_CONFIRMATIONS).get
    return number


def best(
    db: apsw.Connection, viewer: Viewer, wanted: Filter, least: float, limit: int
) -> list[Placed]:
    """The best by quality; one's own whatever their quality."""
    asked = {**_asked(viewer, wanted), "least": least, "limit": limit}
    return [_placed(row) for row in db.execute(_BEST, asked)]


def hidden(db: apsw.Connection, viewer: Viewer, wanted: Filter, least: float) -> int:
    """How many are not good enough."""
    number: int = db.execute(_HIDDEN, {**_asked(viewer, wanted), "least": least}).get
    return number


def items(db: apsw.Connection, viewer: Viewer, rows: Iterable[int]) -> dict[int, Item]:
    """The items of these rows, as far as they may be seen."""
    found = db.execute(_ITEMS, {**viewer._asdict(), "rows": array(rows)})
    return {row[0]: _item(row) for row in found}


def item_of(db: apsw.Connection, viewer: Viewer, ident: str) -> Item | None:
    """The item of that id; one's own if there are several."""
    asked = {**viewer._asdict(), "ident": storable(ident)}
    row = db.execute(_ITEM_OF, asked).fetchone()
    return None if row is None else _item(row)


def listed(db: apsw.Connection, viewer: Viewer, *, mine: bool) -> list[Item]:
    """Everything the viewer may see, or contributed; the newest first."""
    found = db.execute(_LISTED, {**viewer._asdict(), "mine": mine})
    return [_item(row) for row in found]


def skills_after(
    db: apsw.Connection, viewer: Viewer, place: Place | None, limit: int
) -> list[Item]:
    """The next skills by name, as far as they may be seen."""
    after = place or Place("", "")
    asked = {
        **viewer._asdict(),
        "skills": True,
        "after": storable(after.name),
        "after_ident": storable(after.ident),
        "limit": limit,
    }
    return [_item(row) for row in db.execute(_SKILLS_AFTER, asked)]


def named(
    db: apsw.Connection, viewer: Viewer, typed: str, limit: int, *, skills: bool = False
) -> tuple[list[Place], int]:
    """The best of what has *typed* in its name or id, and how many there are."""
    asked = {
        **viewer._asdict(),
        "skills": skills,
        "typed": storable(typed),
        "limit": limit,
    }
    rows: list[Any] = db.execute(_NAMED, asked).fetchall()
    found = [Place(name, ident) for name, ident, _ in rows]
    return found, rows[0][2] if rows else 0


def skill_list_token(db: apsw.Connection, viewer: Viewer) -> tuple[int, float]:
    """Another one when skills came or went that may be seen."""
    asked = {**viewer._asdict(), "skills": True}
    count, total = db.execute(_SKILL_LIST_TOKEN, asked).fetchone() or (0, 0.0)
    return count, total


def validators(db: apsw.Connection, rows: Iterable[int]) -> dict[int, list[str]]:
    """Who approves of each of these items now."""
    approving: dict[int, list[str]] = {}
    for row, validator in db.execute(_VALIDATORS, (array(rows),)):
        approving.setdefault(row, []).append(validator)
    return approving


def feedback(db: apsw.Connection, row: int) -> list[tuple[str, bool, str | None, str]]:
    """Every vote on an item: by whom, whether for it, what was said, and when."""
    return [
        (validator, bool(valid), said, at)
        for validator, valid, said, at in db.execute(_FEEDBACK, (row,))
    ]


def votes(db: apsw.Connection, viewer: Viewer) -> list[Vote]:
    """All votes on what the viewer may see."""
    return [
        Vote(voter, target, bool(valid))
        for voter, target, valid in db.execute(_VOTES, viewer._asdict())
    ]


def merits(db: apsw.Connection, viewer: Viewer, agent: str) -> list[Merit]:
    """What *agent* earned by what the viewer may see, in order."""
    asked = {**viewer._asdict(), "of": storable(agent)}
    return [Merit(*row) for row in db.execute(_MERITS, asked)]


def recent_traces(db: apsw.Connection, viewer: Viewer) -> list[int]:
    """The newest traces that the viewer may see."""
    return [row for (row,) in db.execute(_RECENT_TRACES, viewer._asdict())]


def passages(db: apsw.Connection, rows: Sequence[int]) -> dict[int, PassageText]:
    """What is embedded of each item."""
    return {
        row: item_texts(kind, name, content).passage
        for row, kind, name, content in db.execute(_TEXTS, (array(rows),))
    }


def item_texts(kind: str, name: str, content: str) -> ItemTexts:
    """What of an item is searched, from what is stored of it."""
    if kind == "skill":
        skill = parse(content)
        return skill_texts(skill.name, skill.description, skill.body)
    return unit_texts(name, msgspec.json.decode(content))


def counts(db: apsw.Connection, viewer: Viewer) -> Mapping[str, int]:
    """How much there is that the viewer may see."""
    skills, units = db.execute(_COUNTS, viewer._asdict()).fetchone() or (0, 0)
    return {"skills": int(skills), "units": int(units)}


def _asked(viewer: Viewer, wanted: Filter) -> dict[str, Any]:
    folded = [lexicon.fold(storable(tag).strip()) for tag in wanted.tags]
    domain = None if wanted.domain is None else storable(wanted.domain).strip()
    return {
        **viewer._asdict(),
        "kinds": array(wanted.kinds),
        "domain": None if domain is None else lexicon.fold(domain),
        "tags": array(folded) if wanted.tags else None,
    }


def _placed(row: Any) -> Placed:
    number, quality, created_at, is_own = row
    return Placed(number, quality, created_at, bool(is_own))


def _item(row: Any) -> Item:
    values = list(row)
    values[9] = msgspec.json.decode(values[9])
    return Item(*values)
