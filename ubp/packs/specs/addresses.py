"""Where a citation leads: the official page, whatever the text was read from."""

from urllib.parse import quote, urlsplit

__all__ = ("cited", "page_address", "without_secrets")

_IN_FRAGMENTS = "!$&'()*+,;=:@/?-._~"


def page_address(
    base: str,
    *,
    name: str,
    suffix: str,
    own: str,
    single: bool = False,
    permalink: str = "",
) -> str:
    """The address of a page.

    *name* is its path without extension, *own* where it is published itself; a
    *single* HTML page is at the *base* as it stands, and one that says where it is
    published (*permalink*) is there, on the host of the base.
    """
    if not base:
        return own
    if single:
        return base
    path = urlsplit(permalink).path
    if path:  # whatever host a page names, it is the base that is trusted
        site = urlsplit(base)
        return f"{site.scheme}://{site.netloc}/{quote(path.lstrip('/'), safe='/%')}"
    return f"{base.rstrip('/')}/{quote(name)}{suffix}"


def without_secrets(url: str) -> str:
    """*url* without a user and a password: it is shown, and cited."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def cited(address: str, anchor: str) -> str:
    """The address of a section of a page."""
    return f"{address.partition('#')[0]}#{quote(anchor, safe=_IN_FRAGMENTS)}"
