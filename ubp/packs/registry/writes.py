"""Change the registry: all SQL of the registry pack that writes.

Every function is one transaction, so that of two servers that write at once the second
sees what the first has done.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import apsw
import msgspec

from ubp import lexicon
from ubp.languages import language_of
from ubp.packs.registry import quality
from ubp.packs.registry.contributions import Contribution
from ubp.packs.registry.journal.keeping import write_down
from ubp.packs.registry.journal.lines import Gone
from ubp.packs.registry.journal.queries import item_at, item_in, merits_of, vote_of
from ubp.packs.registry.passages import ItemTexts, digest_of
from ubp.packs.registry.problems import Conflict, NotAllowed, NotFound
from ubp.packs.registry.queries import (
    SEEN,
    Viewer,
    confirmations,
    item_of,
    item_texts,
)
from ubp.packs.registry.standing import Status, standing
from ubp.packs.registry.text_index import PACK_NAME
from ubp.packs.registry.unit_schema import Visibility, opens
from ubp.store import vectors
from ubp.store.connection import lasting, transaction
from ubp.store.ids import now
from ubp.store.vectors import Passage

__all__ = (
    "EARN",
    "INSERT",
    "VOTE",
    "Retention",
    "Stored",
    "Swept",
    "Voted",
    "contribute",
    "count_votes",
    "disclose",
    "forget",
    "index",
    "optimize",
    "rename",
    "require_confirmations",
    "save",
    "settle",
    "stand",
    "sweep",
    "vote",
)

_OF_FILES = Viewer("kp:agent:local", "")
"""Whose the skills in watched folders are, whoever happens to serve them."""


class Stored(NamedTuple):
    """What became of a contribution."""

    row: int
    ident: str
    quality: float
    """After votes, if it has any."""
    changed: bool
    visibility: Visibility
    """Who may see it now; fewer than it is for, if it waits to be confirmed."""
    missing: int
    """Agents who have to approve of it before it is for everybody."""
    before: Visibility | None = None
    """Who could see its earlier version; None if it is the first."""


class Retention(NamedTuple):
    """Before which time an item must have been stored last to be deleted."""

    org_until: str
    private_until: str


class Swept(NamedTuple):
    """The ids of what was quarantined, of what no longer is, and of what is gone."""

    quarantined: list[str]
    released: list[str]
    expired: list[str]


class Voted(NamedTuple):
    """Where an item stands after a vote."""

    positive: int
    negative: int
    quality: float
    status: Status


_SUBMITTED = """
    SELECT id, ident, quality, positive, visibility,
           asked = :visibility AND (visibility <> 'org' OR org = :org)
      FROM registry_item
     WHERE submitted = :submitted AND agent = :agent AND kind = :kind
       AND source IS NULL
"""

_VERSION = """
    SELECT id, ident, positive, negative, visibility, asked FROM registry_item
"""
_VERSION_OF = f"{_VERSION} WHERE id = ?"
_SKILL_OF = f"""
    {_VERSION} WHERE agent = ? AND kind = 'skill' AND name = ? AND source IS NULL
"""
_SKILL_IN = f"{_VERSION} WHERE source = ?"
_OWN_UNIT = f"{_VERSION} WHERE ident = ? AND agent = ?"

_TAKEN = f"""
    SELECT EXISTS (
        SELECT 1 FROM registry_item AS item
         WHERE item.ident = :ident AND item.agent <> :agent AND {SEEN})
"""  # noqa: S608

# Who sees it is told by _DISCLOSE.
INSERT = """
    INSERT INTO registry_item (
        ident, kind, agent, org, visibility, asked, name, domain, domain_key,
        content, details, submitted, computed, reported, positive, negative, quality,
        status, created_at, updated_at, source)
    VALUES (
        :ident, :kind, :agent, :org, 'private', :asked, :name, :domain, :domain_key,
        :content, :details, :submitted, :computed, :reported, 0, 0, :quality, :status,
        :created_at, :updated_at, :source)
"""

_UPDATE = """
    UPDATE registry_item
       SET kind = :kind, org = :org, asked = :asked, name = :name,
           domain = :domain, domain_key = :domain_key, content = :content,
           details = :details, submitted = :submitted, computed = :computed,
           reported = :reported, quality = :quality, status = :status,
           updated_at = :updated_at
     WHERE id = :id
"""

_DELETE_TAGS = "DELETE FROM registry_tag WHERE item_id = ?"
_INSERT_TAG = "INSERT OR IGNORE INTO registry_tag (tag, item_id) VALUES (?, ?)"

_ADD_WORDS = "INSERT INTO registry_text (rowid, heading, content) VALUES (?, ?, ?)"
_ADD_CLOSED_WORDS = """
    INSERT INTO registry_closed_text (rowid, heading, content) VALUES (?, ?, ?)
"""
_REMOVE_WORDS = "DELETE FROM registry_text WHERE rowid = ?"
_REMOVE_CLOSED_WORDS = "DELETE FROM registry_closed_text WHERE rowid = ?"

EARN = """
    INSERT INTO registry_merit (agent, item_id, reason, earned_at) VALUES (?, ?, ?, ?)
        ON CONFLICT DO NOTHING
"""

VOTE = """
    INSERT INTO registry_vote (item_id, validator, valid, feedback, voted_at)
    VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE
       SET valid = excluded.valid, feedback = excluded.feedback,
           voted_at = excluded.voted_at
"""

_COUNT_VOTES = """
    SELECT coalesce(sum(valid), 0), coalesce(sum(NOT valid), 0) FROM registry_vote
     WHERE item_id = ?
"""

_SET_STANDING = """
    UPDATE registry_item
       SET positive = ?, negative = ?, quality = ?, status = ? WHERE id = ?
"""

# What is a file needs no confirmation: the project has named its folder. Of those that
# have the same id one at most is for everybody, or who votes on one votes on the other.
_DISCLOSE = """
    UPDATE registry_item AS item
       SET visibility = CASE
           WHEN asked <> 'network' OR source IS NOT NULL THEN asked
           WHEN positive < (SELECT confirmations FROM registry_rule) THEN 'org'
           WHEN visibility <> 'network' AND EXISTS (
                SELECT 1 FROM registry_item AS other
                 WHERE other.ident = item.ident AND other.agent <> item.agent
                   AND other.visibility = 'network') THEN 'org'
           ELSE 'network'
           END
     WHERE id = ?
    RETURNING visibility
"""

_VISIBILITY = "SELECT visibility FROM registry_item WHERE id = ?"
_INDEXED = """
    SELECT kind, name, domain, content, details FROM registry_item WHERE id = ?
"""

_REQUIRE = "UPDATE registry_rule SET confirmations = ?"
_OTHERWISE_CONFIRMED = """
    SELECT id, computed FROM registry_item
     WHERE asked = 'network' AND source IS NULL
       AND (visibility = 'network') <> (positive >= ?)
     ORDER BY id
"""

_STANDINGS = f"""
    SELECT item.id, item.ident, item.computed, item.status, {SEEN}
      FROM registry_item AS item ORDER BY item.id
"""  # noqa: S608

_EXPIRED = f"""
    SELECT item.id, item.ident, {SEEN} FROM registry_item AS item
     WHERE item.source IS NULL
       AND (item.asked = 'org' AND item.updated_at < :org_until
            OR item.asked = 'private' AND item.updated_at < :private_until)
     ORDER BY item.id
"""  # noqa: S608

_DELETE = "DELETE FROM registry_item WHERE id = ? RETURNING ident, agent"
_MOVE = "UPDATE registry_item SET source = ? WHERE source = ?"

_OPTIMIZE = "INSERT INTO registry_text (registry_text) VALUES ('optimize')"


def contribute(
    db: apsw.Connection, item: Contribution, viewer: Viewer, novelty: float | None
) -> Stored:
    """Store *item* as the viewer's, unless it is there as it is.

    Raises:
        Conflict: Its id is somebody else's.
    """
    with lasting(db):
        submitted = {
            "submitted": item.submitted,
            "kind": item.kind,
            "visibility": item.visibility,
            **viewer._asdict(),
        }
        same = db.execute(_SUBMITTED, submitted).fetchone()
        if same is not None and same[-1]:
            row, ident, current, positive, sees, _ = same
            missing = _missing(db, positive)
            return Stored(row, ident, current, False, sees, missing)
        known = _version(db, same[0]) if same else _earlier(db, item, viewer)
        ident = known.ident if known else item.ident
        if known is None or opens(known.asked, item.visibility):
            _refuse_taken(db, ident, viewer)
        return _store(db, item, viewer, novelty, known)


def vote(
    db: apsw.Connection,
    viewer: Viewer,
    ident: str,
    *,
    valid: bool,
    feedback: str | None,
) -> Voted:
    """Let the viewer judge an item; a second judgement replaces the first.

    Raises:
        NotFound: There is none of that id that the viewer may see.
        NotAllowed: It is the viewer's own.
    """
    with lasting(db):
        item = item_of(db, viewer, ident)
        if item is None:
            raise NotFound("There is nothing of that id.")
        if item.agent == viewer.agent:
            raise NotAllowed("Nobody validates what they contributed themselves.")
        at = now()
        db.execute(VOTE, (item.row, viewer.agent, valid, feedback, at))
        db.execute(EARN, (viewer.agent, item.row, "validation", at))
        write_down(
            db,
            *vote_of(db, item.row, viewer.agent),
            *merits_of(db, item.row, viewer.agent),
        )
        return count_votes(db, item.row, item.computed)


def require_confirmations(db: apsw.Connection, number: int) -> None:
    """Let so many agents have to approve of an item before it is for everybody."""
    with transaction(db):
        db.execute(_REQUIRE, (number,))
        rows: list[Any] = db.execute(_OTHERWISE_CONFIRMED, (number,)).fetchall()
        for row, computed in rows:
            count_votes(db, row, computed)


def sweep(db: apsw.Connection, viewer: Viewer, keep: Retention) -> Swept:
    """Delete what has had its time, and apply the rules to every item now.

    Of what the viewer may not see nothing is told.
    """
    swept = Swept([], [], [])
    with lasting(db):
        asked = {**viewer._asdict(), **keep._asdict()}
        expired: list[Any] = db.execute(_EXPIRED, asked).fetchall()
        gone = [_delete(db, row) for row, _, _ in expired]
        write_down(db, *(each for each in gone if each is not None))
        swept.expired.extend(ident for _, ident, seen in expired if seen)
        rows: list[Any] = db.execute(_STANDINGS, viewer._asdict()).fetchall()
        for row, ident, computed, before, seen in rows:
            status = count_votes(db, row, computed).status
            if seen and status == "quarantined" != before:
                swept.quarantined.append(ident)
            elif seen and before == "quarantined" != status:
                swept.released.append(ident)
    return swept


def save(
    db: apsw.Connection, path: str, digest: str, record: Contribution, reset: bool
) -> None:
    """Let the skill in the file at *path* be *record*."""
    del digest, reset  # nothing here depends on when it was read
    known = _as_version(db.execute(_SKILL_IN, (path,)))
    _store(db, record, _OF_FILES, None, known, path)


def forget(db: apsw.Connection, path: str) -> None:
    """The file at *path* is gone, or is no skill any more."""
    known = _as_version(db.execute(_SKILL_IN, (path,)))
    if known is not None and (gone := _delete(db, known.row)) is not None:
        write_down(db, gone)


def rename(db: apsw.Connection, old: str, new: str) -> None:
    """Let the skill at *old* be at *new*."""
    db.execute(_MOVE, (new, old))
    write_down(db, *item_in(db, new))


def settle(db: apsw.Connection) -> bool:
    """Nothing is left for later."""
    del db
    return False


def optimize(db: apsw.Connection) -> None:
    """Tidy the full-text index after many changes."""
    db.execute(_OPTIMIZE)


class _Version(NamedTuple):
    """An item that gets new content."""

    row: int
    ident: str
    positive: int
    negative: int
    visibility: Visibility
    asked: Visibility


def _version(db: apsw.Connection, row: int) -> _Version | None:
    return _as_version(db.execute(_VERSION_OF, (row,)))


def _as_version(found: apsw.Cursor) -> _Version | None:
    values = found.fetchone()
    return None if values is None else _Version(*values)


def _store(
    db: apsw.Connection,
    item: Contribution,
    viewer: Viewer,
    novelty: float | None,
    known: _Version | None,
    source: str | None = None,
) -> Stored:
    computed = item.quality
    if novelty is not None and item.kind == "ReasoningTrace":
        computed = quality.of_unit(item.unit, novelty)
    positive, negative = (known.positive, known.negative) if known else (0, 0)
    stands = standing(computed, positive, negative)
    ident = known.ident if known else _new_ident(item)
    at = now()
    values = {
        "ident": ident,
        "kind": item.kind,
        "agent": viewer.agent,
        "org": viewer.org,
        "asked": item.visibility,
        "name": item.name,
        "domain": item.domain,
        "domain_key": lexicon.fold(item.domain or ""),
        "content": _content(item, ident),
        "details": msgspec.json.encode(item.details).decode(),
        "submitted": item.submitted,
        "computed": computed,
        "reported": item.reported_quality,
        "quality": stands.quality,
        "status": stands.status,
        "created_at": item.created_at or at,
        "updated_at": at,
        "source": source,
    }
    if known:
        row = known.row
        db.execute(_UPDATE, {**values, "id": row})
        _remove_words(db, row)
    else:
        db.execute(INSERT, values)
        row = db.last_insert_rowid()
        if source is None:  # a file that is there is no deed of anybody
            reason = "skill" if item.kind == "skill" else "unit"
            db.execute(EARN, (viewer.agent, row, reason, at))
    sees = disclose(db, row)
    passage = index(db, row, item.texts, item.domain, item.tags, sees)
    vectors.note(db, PACK_NAME, [passage])
    write_down(
        db,
        *item_at(db, row),
        *merits_of(db, row, viewer.agent),
    )
    before = known.visibility if known else None
    missing = _missing(db, positive)
    return Stored(row, ident, stands.quality, True, sees, missing, before)


def _missing(db: apsw.Connection, positive: int) -> int:
    return max(0, confirmations(db) - positive)


def _earlier(
    db: apsw.Connection, item: Contribution, viewer: Viewer
) -> _Version | None:
    """The item this is a new version of."""
    if item.kind == "skill":
        return _as_version(db.execute(_SKILL_OF, (viewer.agent, item.name)))
    return _as_version(db.execute(_OWN_UNIT, (item.ident, viewer.agent)))


def _refuse_taken(db: apsw.Connection, ident: str | None, viewer: Viewer) -> None:
    """Refuse an id under which the viewer sees something of somebody else.

    Of what the viewer may not see it must not learn that it is there.

    Raises:
        Conflict: There is such an item; who votes on one would vote on the other.
    """
    if db.execute(_TAKEN, {**viewer._asdict(), "ident": ident}).get:
        raise Conflict("The id belongs to another agent.")


def _new_ident(item: Contribution) -> str:
    return f"kp:skill:{uuid4()}" if item.kind == "skill" else str(item.unit["id"])


def _content(item: Contribution, ident: str) -> str:
    """The content under its id: a unit that came without one was given another."""
    if item.kind == "skill" or item.unit["id"] == ident:
        return item.content
    return msgspec.json.encode({**item.unit, "id": ident}).decode()


def index(
    db: apsw.Connection,
    row: int,
    texts: ItemTexts,
    domain: str | None,
    tags: Sequence[str],
    visibility: Visibility,
) -> Passage:
    """Let an item be found by its tags and words; and what to note to embed it."""
    db.execute(_DELETE_TAGS, (row,))
    db.executemany(_INSERT_TAG, [(lexicon.fold(tag), row) for tag in tags])
    heading = "\n".join((texts.words.head, domain or "", *tags))
    words = (
        lexicon.spread(lexicon.fold(heading)).text,
        lexicon.spread(lexicon.fold(texts.words.body)).text,
    )
    add = _ADD_WORDS if visibility == "network" else _ADD_CLOSED_WORDS
    db.execute(add, (row, *words))
    language = language_of("\n".join(texts.passage))
    return Passage(row, digest_of(texts.passage), language)


def _remove_words(db: apsw.Connection, row: int) -> None:
    db.execute(_REMOVE_WORDS, (row,))
    db.execute(_REMOVE_CLOSED_WORDS, (row,))


def _delete(db: apsw.Connection, row: int) -> Gone | None:
    """Delete an item with all that hangs on it."""
    _remove_words(db, row)
    vectors.forget(db, PACK_NAME, [row])
    gone = db.execute(_DELETE, (row,)).fetchone()
    return None if gone is None else Gone(ident=gone[0], agent=gone[1])


def count_votes(db: apsw.Connection, row: int, computed: float) -> Voted:
    """Count the votes on an item again, and let it stand and be seen as they say."""
    voted = stand(db, row, computed)
    before = db.execute(_VISIBILITY, (row,)).get
    sees = disclose(db, row)
    if sees != before:
        kind, name, domain, content, details = db.execute(_INDEXED, (row,)).get
        tags = msgspec.json.decode(details).get("tags", ())
        _remove_words(db, row)
        index(db, row, item_texts(kind, name, content), domain, tags, sees)
    return voted


def stand(db: apsw.Connection, row: int, computed: float) -> Voted:
    """Count the votes on an item, and let it stand as they say."""
    positive, negative = db.execute(_COUNT_VOTES, (row,)).fetchone() or (0, 0)
    stands = standing(computed, positive, negative)
    db.execute(_SET_STANDING, (positive, negative, stands.quality, stands.status, row))
    return Voted(positive, negative, stands.quality, stands.status)


def disclose(db: apsw.Connection, row: int) -> Visibility:
    """Let an item be seen by those it is for, as far as it is confirmed; by whom."""
    sees: Visibility = db.execute(_DISCLOSE, (row,)).get
    return sees
