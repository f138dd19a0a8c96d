"""Places: paths relative to a folder, each standing for all below it. Empty is all."""

from collections.abc import Collection, Iterable

__all__ = ("is_at", "outermost")


def is_at(path: str, places: Collection[str]) -> bool:
    """Whether *path* is one of *places*, or below one of them."""
    if "" in places:
        return True
    while path and path not in places:
        path = path.rpartition("/")[0]
    return bool(path)


def outermost(paths: Iterable[str]) -> list[str]:
    """Those of *paths* that are not below another, in order."""
    found: dict[str, None] = {}
    for path in sorted(paths, key=lambda path: path.split("/")):
        if not is_at(path, found.keys()):
            found[path] = None
    return list(found)
