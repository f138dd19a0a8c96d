"""Change the registry: all SQL of the registry pack that writes.

Every function is one transaction, so that of two servers that write at once the second
sees what the first has done.
"""

from typing import Any, NamedTuple
from uuid import uuid4

import apsw
import msgspec

from ubp import lexicon
from ubp.languages import language_of
from ubp.packs.registry import quality
from ubp.packs.registry.contributions import Contribution
from ubp.packs.registry.passages import digest_of
from ubp.packs.registry.problems import Conflict, NotAllowed, NotFound
from ubp.packs.registry.queries import Viewer, item_of
from ubp.packs.registry.standing import Status, standing
from ubp.packs.registry.text_index import PACK_NAME
from ubp.store import vectors
from ubp.store.connection import transaction
from ubp.store.ids import now
from ubp.store.vectors import Passage

__all__ = ("Stored", "Voted", "contribute", "sweep", "vote")


class Stored(NamedTuple):
    """What became of a contribution."""

    row: int
    ident: str
    quality: float
    """After votes, if it has any."""
    changed: bool


class Voted(NamedTuple):
    """Where an item stands after a vote."""

    positive: int
    negative: int
    quality: float
    status: Status


_SUBMITTED = """
    SELECT id, ident, quality, visibility FROM registry_item
     WHERE submitted = :submitted AND agent = :agent AND kind = :kind
"""

_VERSION = "SELECT id, ident, positive, negative FROM registry_item"
_VERSION_OF = f"{_VERSION} WHERE id = ?"
_SKILL_OF = f"{_VERSION} WHERE agent = ? AND kind = 'skill' AND name = ?"
_OWN_UNIT = f"{_VERSION} WHERE ident = ? AND agent = ?"

_INSERT = """
    INSERT INTO registry_item (
        ident, kind, agent, org, visibility, name, domain, domain_key, content, details,
        submitted, computed, reported, positive, negative, quality, status,
        created_at, updated_at)
    VALUES (
        :ident, :kind, :agent, :org, :visibility, :name, :domain, :domain_key, :content,
        :details, :submitted, :computed, :reported, 0, 0, :quality, :status,
        :created_at, :updated_at)
"""

_UPDATE = """
    UPDATE registry_item
       SET kind = :kind, org = :org, visibility = :visibility, name = :name,
           domain = :domain, domain_key = :domain_key, content = :content,
           details = :details, submitted = :submitted, computed = :computed,
           reported = :reported, quality = :quality, status = :status,
           updated_at = :updated_at
     WHERE id = :id
"""

_DELETE_TAGS = "DELETE FROM registry_tag WHERE item_id = ?"
_INSERT_TAG = "INSERT OR IGNORE INTO registry_tag (tag, item_id) VALUES (?, ?)"

_ADD_WORDS = "INSERT INTO registry_text (rowid, heading, content) VALUES (?, ?, ?)"
_REMOVE_WORDS = "DELETE FROM registry_text WHERE rowid = ?"

_EARN = """
    INSERT INTO registry_merit (agent, item_id, reason, earned_at) VALUES (?, ?, ?, ?)
        ON CONFLICT DO NOTHING
"""

_VOTE = """
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

_STANDINGS = "SELECT id, ident, computed, status FROM registry_item ORDER BY id"


def contribute(
    db: apsw.Connection, item: Contribution, viewer: Viewer, novelty: float | None
) -> Stored:
    """Store *item* as the viewer's, unless it is there as it is.

    Raises:
        Conflict: Its id is somebody else's.
    """
    with transaction(db):
        submitted = {
            "submitted": item.submitted,
            "agent": viewer.agent,
            "kind": item.kind,
        }
        same = db.execute(_SUBMITTED, submitted).fetchone()
        if same is not None and same[3] == item.visibility:
            row, ident, current, _ = same
            return Stored(row, ident, current, changed=False)
        known = _version(db, same[0]) if same else _earlier(db, item, viewer)
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
    with transaction(db):
        item = item_of(db, viewer, ident)
        if item is None:
            raise NotFound("There is nothing of that id.")
        if item.agent == viewer.agent:
            raise NotAllowed("Nobody validates what they contributed themselves.")
        at = now()
        db.execute(_VOTE, (item.row, viewer.agent, valid, feedback, at))
        db.execute(_EARN, (viewer.agent, item.row, "validation", at))
        return _counted(db, item.row, item.computed)


def sweep(db: apsw.Connection) -> tuple[list[str], list[str]]:
    """Apply the rules to every item now: the ids quarantined, and those released."""
    quarantined: list[str] = []
    released: list[str] = []
    with transaction(db):
        rows: list[Any] = db.execute(_STANDINGS).fetchall()
        for row, ident, computed, before in rows:
            status = _counted(db, row, computed).status
            if status == "quarantined" != before:
                quarantined.append(ident)
            elif before == "quarantined" != status:
                released.append(ident)
    return quarantined, released


class _Version(NamedTuple):
    """An item that gets new content."""

    row: int
    ident: str
    positive: int
    negative: int


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
        "visibility": item.visibility,
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
    }
    if known:
        row = known.row
        db.execute(_UPDATE, {**values, "id": row})
        db.execute(_REMOVE_WORDS, (row,))
    else:
        db.execute(_INSERT, values)
        row = db.last_insert_rowid()
        reason = "skill" if item.kind == "skill" else "unit"
        db.execute(_EARN, (viewer.agent, row, reason, at))
    _index(db, row, item)
    return Stored(row, ident, stands.quality, changed=True)


def _earlier(
    db: apsw.Connection, item: Contribution, viewer: Viewer
) -> _Version | None:
    """The item this is a new version of.

    Raises:
        Conflict: It would be of somebody else's.
    """
    if item.kind == "skill":
        return _as_version(db.execute(_SKILL_OF, (viewer.agent, item.name)))
    if item.ident is None:
        return None
    own = _as_version(db.execute(_OWN_UNIT, (item.ident, viewer.agent)))
    # Of what the agent may not see it must not learn that it is there.
    if own is None and item_of(db, viewer, item.ident) is not None:
        raise Conflict("The id belongs to another agent.")
    return own


def _new_ident(item: Contribution) -> str:
    return f"kp:skill:{uuid4()}" if item.kind == "skill" else str(item.unit["id"])


def _content(item: Contribution, ident: str) -> str:
    """The content under its id: a unit that came without one was given another."""
    if item.kind == "skill" or item.unit["id"] == ident:
        return item.content
    return msgspec.json.encode({**item.unit, "id": ident}).decode()


def _index(db: apsw.Connection, row: int, item: Contribution) -> None:
    db.execute(_DELETE_TAGS, (row,))
    tags = [(lexicon.fold(tag), row) for tag in item.tags]
    db.executemany(_INSERT_TAG, tags)
    heading = "\n".join((item.passage.head, item.domain or "", *item.tags))
    words = (
        lexicon.spread(lexicon.fold(heading)).text,
        lexicon.spread(lexicon.fold(item.passage.body)).text,
    )
    db.execute(_ADD_WORDS, (row, *words))
    whole = f"{item.passage.head}\n{item.passage.body}"
    passage = Passage(row, digest_of(item.passage), language_of(whole))
    vectors.note(db, PACK_NAME, [passage])


def _counted(db: apsw.Connection, row: int, computed: float) -> Voted:
    """Count the votes on an item again, and let it stand as they say."""
    positive, negative = db.execute(_COUNT_VOTES, (row,)).fetchone() or (0, 0)
    stands = standing(computed, positive, negative)
    db.execute(_SET_STANDING, (positive, negative, stands.quality, stands.status, row))
    return Voted(positive, negative, stands.quality, stands.status)
