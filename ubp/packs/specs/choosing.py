"""Which document, and which snapshot of it, a caller means."""

import apsw

from ubp.packs.specs import queries
from ubp.packs.specs.failures import NotIngested, UnknownVersion
from ubp.packs.specs.languages import Language, Policy
from ubp.packs.specs.queries import SnapshotRow

__all__ = ("LATEST", "chosen", "policy_now")

LATEST = "latest"


def chosen(
    db: apsw.Connection, language: Language, doc: str | None, version: str | None
) -> SnapshotRow:
    """The snapshot that is meant; the newest unless a version is named.

    Raises:
        NotIngested: The document has none.
        UnknownVersion: It has others.
        InvalidArguments: The language has no such document.
    """
    document = language.document(doc)
    newest = queries.newest(db, language.language, document.doc)
    if newest is None:
        raise NotIngested(language.language, document.doc)
    if version is None or version == LATEST:
        return newest
    found = queries.of_version(db, language.language, document.doc, version)
    if found is None:
        known = [
            each.version
            for each in queries.snapshots(db, language.language)
            if each.doc == document.doc
        ]
        raise UnknownVersion(language.language, version, known)
    return found


def policy_now(language: Language, doc: str, stored: Policy) -> Policy:
    """The stricter of what was stored with a text and what the settings say by now."""
    for each in language.documents:
        if each.doc == doc and each.policy == "excerpt_only":
            return "excerpt_only"
    return stored
