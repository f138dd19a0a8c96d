"""Moments as cards have them: RFC 3339, in UTC."""

from datetime import UTC, datetime

__all__ = ("month_of", "now", "parsed_moment", "written")


def now() -> datetime:
    return datetime.now(UTC)


def written(moment: datetime, *, exact: bool = False) -> str:
    """*moment* to the second, or *exact* to the millisecond."""
    text = moment.astimezone(UTC).isoformat(
        timespec="milliseconds" if exact else "seconds"
    )
    return text.replace("+00:00", "Z")


def parsed_moment(text: str) -> datetime | None:
    """The moment *text* names; None if it names none. Without a zone it is in UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def month_of(moment: datetime) -> str:
    """The folders of a month within ``done``."""
    return f"{moment.astimezone(UTC):%Y/%m}"
