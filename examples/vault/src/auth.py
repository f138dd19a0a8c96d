"""Password hashing, login lockout and session expiry."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

SESSION_IDLE = timedelta(minutes=45)
SESSION_MAX = timedelta(hours=12)
REMEMBERED_MAX = timedelta(days=30)

MAX_FAILED_LOGINS = 5
LOCKOUT = timedelta(minutes=15)

SALT_BYTES = 16
TOKEN_BYTES = 32


@dataclass(slots=True)
class Session:
    """A signed-in browser. Only the hash of its token is stored."""

    token_hash: str
    created: datetime
    last_seen: datetime
    remembered: bool = False

    def is_valid(self, now: datetime) -> bool:
        """Tell whether the session may still be used at this moment."""
        if self.remembered:
            return now - self.created < REMEMBERED_MAX
        idle = now - self.last_seen
        return idle < SESSION_IDLE and now - self.created < SESSION_MAX


def open_session(now: datetime, *, remembered: bool = False) -> tuple[str, Session]:
    """Create a session; the token goes to the cookie, the session to the store."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    token_hash = hashlib.sha256(token.encode()).hexdigest()
    return token, Session(token_hash, now, now, remembered)


def is_locked(failures: int, last_failure: datetime, now: datetime) -> bool:
    """Tell whether too many consecutive failures keep the account closed."""
    return failures >= MAX_FAILED_LOGINS and now - last_failure < LOCKOUT


def hash_password(password: str, salt: bytes | None = None) -> bytes:
    """Return salt and scrypt digest in one value."""
    salt = salt or secrets.token_bytes(SALT_BYTES)
    return salt + hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)


def verify_password(password: str, stored: bytes) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(hash_password(password, stored[:SALT_BYTES]), stored)
