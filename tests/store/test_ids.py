"""Identifiers that sort by when they were made."""

import time
from datetime import UTC, datetime
from uuid import RFC_4122, UUID

from ubp.store.ids import new_id, now


def test_id_is_a_uuid_of_version_seven() -> None:
    ident = new_id()

    assert UUID(ident).version == 7
    assert UUID(ident).variant == RFC_4122
    assert str(UUID(ident)) == ident


def test_ids_begin_with_the_time_they_were_made() -> None:
    before = time.time_ns() // 1_000_000
    ident = new_id()
    after = time.time_ns() // 1_000_000

    assert before <= UUID(ident).int >> 80 <= after


def test_ids_are_distinct() -> None:
    assert len({new_id() for _ in range(10_000)}) == 10_000


def test_now_is_utc_to_the_microsecond() -> None:
    before = datetime.now(UTC)
    stamp = now()
    after = datetime.now(UTC)

    assert before <= datetime.fromisoformat(stamp) <= after
    assert stamp.endswith("Z")
    assert len(stamp) == len("2024-01-02T03:04:05.678901Z")
