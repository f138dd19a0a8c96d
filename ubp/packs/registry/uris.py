"""A skill <-> its URI: ``skill://``, what its id ends with, its name, its file."""

import unicodedata
from urllib.parse import quote, unquote

from ubp.errors import ResourceNotFound

__all__ = ("PREFIX", "TEMPLATE", "ident_and_name", "is_standard_name", "path_of", "uri")

PREFIX = "skill://"
TEMPLATE = "skill://{+path}/SKILL.md"

_FILE = "/SKILL.md"
_IDENT = "kp:skill:"
_LONGEST_NAME = 64


def path_of(ident: str, name: str) -> str:
    """Where a skill is among all skills. Its id comes first: names are not unique."""
    return f"{ident.removeprefix(_IDENT)}/{quote(name, safe='')}"


def uri(ident: str, name: str) -> str:
    """The URI of a skill's SKILL.md."""
    return f"{PREFIX}{path_of(ident, name)}{_FILE}"


def ident_and_name(given: str) -> tuple[str, str]:
    """Which skill a URI means, if there is one.

    Raises:
        ResourceNotFound: It means none.
    """
    path = given.removeprefix(PREFIX).removesuffix(_FILE)
    ident, slash, name = path.partition("/")
    whole = f"{PREFIX}{path}{_FILE}"
    try:
        name = unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise ResourceNotFound(given) from None
    if whole != given or not slash or not ident or not name:
        raise ResourceNotFound(given)
    return f"{_IDENT}{ident}", name


def is_standard_name(name: str) -> bool:
    """Whether it is a name by the Agent Skills specification.

    Lower case, letters and digits of any script, single hyphens between them.
    """
    return (
        len(name) <= _LONGEST_NAME
        and name == unicodedata.normalize("NFKC", name).lower()
        and all(part.isalnum() for part in name.split("-"))
    )
