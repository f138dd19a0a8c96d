"""Resources: the terms in which packs and the protocol speak of what has a URI."""

import re

from msgspec import Struct

__all__ = (
    "CompleteVariable",
    "Completions",
    "Contents",
    "ListResources",
    "ReadResource",
    "Resource",
    "ResourceList",
    "Template",
)

_EXPRESSION = re.compile(r"\{[+#./;?&]?([^}]*)\}")


class Resource(Struct, frozen=True, kw_only=True):
    """Something a client may read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    """In bytes."""
    last_modified: str | None = None
    """ISO 8601."""


class Template(Struct, frozen=True, kw_only=True):
    """A kind of resource: a URI template (RFC 6570) and what it stands for."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in its braces."""
        return tuple(
            name.rstrip("*").partition(":")[0]
            for expression in _EXPRESSION.findall(self.uri)
            for name in expression.split(",")
        )


class ListResources(Struct, frozen=True, kw_only=True):
    """List at most so many resources, in the pack's order."""

    after: str | None = None
    """Where the last list ended, in the pack's own words."""
    limit: int


class ResourceList(Struct, frozen=True):
    """Some resources, and where the next list begins; None if there are no more."""

    resources: list[Resource]
    next: str | None = None


class ReadResource(Struct, frozen=True):
    """Read a resource as it is now."""

    uri: str


class Contents(Struct, frozen=True):
    """What is in a resource: text, or bytes."""

    data: str | bytes
    mime_type: str | None = None


class CompleteVariable(Struct, frozen=True, kw_only=True):
    """Say how the value of a template's variable may go on."""

    template: str
    variable: str
    value: str
    others: dict[str, str] = {}
    """The values of variables that have been chosen already."""


class Completions(Struct, frozen=True):
    """Some values, the likeliest first, and how many there are in all."""

    values: list[str]
    total: int
