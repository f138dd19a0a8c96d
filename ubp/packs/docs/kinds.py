"""The words of the document graph."""

from typing import Annotated, Literal, get_args

from msgspec import Meta

__all__ = (
    "DOC_TYPES",
    "LINK_TYPES",
    "Direction",
    "DocType",
    "LinkType",
    "StaleReason",
    "Staleness",
)

DocType = Annotated[
    Literal["spec", "design", "adr", "guide", "api", "meeting", "todo", "other"],
    Meta(description="Only this kind"),
]
LinkType = Literal[
    "references", "depends_on", "implements", "extends", "conflicts_with"
]
Staleness = Literal["fresh", "possibly_stale", "stale", "untracked"]
StaleReason = Literal["modified", "deleted", "not_found"]
Direction = Literal["outlink", "backlink"]

DOC_TYPES: tuple[str, ...] = get_args(get_args(DocType)[0])
LINK_TYPES: tuple[str, ...] = get_args(LinkType)
