"""A page's path <-> its URI, as RFC 3986 has it: ``ubp://docs/guides/a%20b.md``."""

import re
from urllib.parse import quote, unquote_to_bytes

from ubp.errors import ResourceNotFound

__all__ = ("PREFIX", "TEMPLATE", "page_uri", "path_of")

PREFIX = "ubp://docs/"

TEMPLATE = f"{PREFIX}{{+path}}"
"""With the plus, so that slashes stay slashes (RFC 6570)."""

_PLAIN = "/!$&'()*+,;=:@"
"""What may stand in the path of a URI beside letters, digits and ``-._~``."""

_BROKEN_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


def page_uri(path: str) -> str:
    """The URI of the page at *path*, relative to the docs folder."""
    return PREFIX + quote(path, safe=_PLAIN)


def path_of(uri: str) -> str:
    """The path a URI means. Whether there is such a page is another question.

    Clients need not escape what they do not have to, so one path may have several.

    Raises:
        ResourceNotFound: It is no URI of ours.
    """
    escaped = uri.removeprefix(PREFIX)
    if escaped == uri or _BROKEN_ESCAPE.search(escaped):
        raise ResourceNotFound(uri)
    try:
        return unquote_to_bytes(escaped).decode()
    except UnicodeError:
        raise ResourceNotFound(uri) from None
