"""What a Debian package says about its own licence."""

import re
from pathlib import Path

__all__ = ("licences_of",)

_FIELD = re.compile(r"^License:[ \t]*(\S.*)$", re.MULTILINE)
_KNOWN = (
    (r"GNU Free Documentation|GFDL", "GFDL"),
    (r"GNU Affero", "AGPL"),
    (r"GNU (Lesser|Library) General Public|LGPL", "LGPL"),
    (r"GNU General Public|\bGPL", "GPL"),
    (r"Mozilla Public|\bMPL", "MPL"),
    (r"Apache License", "Apache-2.0"),
    (r"Creative Commons|\bCC.BY", "CC-BY or similar"),
    (r"Permission is hereby granted, free of charge", "Expat"),
    (r"Redistribution and use in source and binary", "BSD"),
    (r"Artistic", "Artistic"),
    (r"public domain", "public domain"),
)
"""For copyright files older than the format: a phrase, and what it means."""


def licences_of(package: str, folder: Path) -> list[str]:
    """Short names of the licences in a package's copyright file, the usual first."""
    path = folder / "usr/share/doc" / package / "copyright"
    if not path.exists():
        return ["see its source package"]
    text = path.read_text(encoding="utf-8", errors="replace")
    names = [name.strip() for name in _FIELD.findall(text)]
    if names:
        return sorted(set(names), key=lambda name: (-names.count(name), name))
    return [name for phrase, name in _KNOWN if re.search(phrase, text)] or ["other"]
