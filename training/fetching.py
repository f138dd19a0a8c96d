"""Fetch: download the packages of the sources and unpack what is of use.

Every package has a folder of its own below ``packages/``. One that is complete has a
line in ``packages.jsonl``, so an interrupted run goes on with the next. Where many are
not to be had, the archive cannot be reached, and the step fails; a few are told.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from training.archive import Archive, Unavailable, unpack
from training.licences import licences_of
from training.npm import fetch_pages
from training.progress import console, meter
from training.sources import (
    LARGE_PACKAGES,
    MANUALS,
    NPM,
    is_forbidden,
    is_japanese_catalogue,
    is_japanese_help,
    is_japanese_manual_page,
    is_wanted,
)

__all__ = ("fetch", "packages_folder")

_BATCH = 60
"""Packages a call of the archive's client: few calls, yet progress to see."""

_MOST_MISSING = 0.05
"""Share of the packages without which there is still enough to learn from."""

_MIN_PAGES = 3
"""A package is fetched for its English manual pages if it has so many of use."""


def packages_folder(work: Path) -> Path:
    """Where packages are unpacked, each in a folder of its name."""
    return work / "packages"


def fetch(work: Path, *, max_bytes: int) -> None:
    """Download and unpack everything that is not there yet."""
    archive = Archive(work / "apt")
    archive.update()
    record = work / "packages.jsonl"
    done = {json.loads(line)["package"] for line in _read(record)}
    names = _wanted_packages(work, archive, max_bytes)
    todo = [name for name in names if name not in done]
    console.print(f"{len(names):,} packages, {len(todo):,} to fetch")
    missing: list[str] = []
    with meter("packages", len(todo)) as shown, record.open("a") as log:
        for name, line in _fetched(archive, work, todo):
            if line is None:
                missing.append(name)
            else:
                log.write(json.dumps(line) + "\n")
                log.flush()
            shown.advance(note=name)
    if missing:
        console.print(f"not available: {', '.join(missing)}")
    if len(missing) > _MOST_MISSING * len(names):
        raise Unavailable(f"{len(missing):,} of {len(names):,} packages are missing.")


def _fetched(
    archive: Archive, work: Path, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, object] | None]]:
    """Each package with its line for the record; without one it could not be had."""
    download, root = work / "download", packages_folder(work)
    for name in [name for name in names if name in NPM]:
        try:
            yield name, fetch_pages(name, download, root / name)
        except Unavailable as error:
            console.print(f"{name}: {error.message}")
            yield name, None
    for group in _groups([name for name in names if name not in NPM]):
        files = archive.download(group, download)
        for name in group:
            found = files.get(name)
            yield name, found and _unpacked(name, found, root / name)


def _unpacked(name: str, file: Path, folder: Path) -> dict[str, object]:
    unpack(file, folder, is_wanted)
    version = file.name.split("_")[1].replace("%3a", ":")
    size = file.stat().st_size
    file.unlink()
    return {
        "package": name,
        "version": version,
        "bytes": size,
        "licences": licences_of(name, folder),
    }


def _wanted_packages(work: Path, archive: Archive, max_bytes: int) -> list[str]:
    """Manuals, then what the archive's index of files knows; that is kept."""
    kept = work / "found.json"
    if not kept.exists():
        kept.write_text(json.dumps(_found_packages(archive, max_bytes), indent=0))
    manuals = [package for manual in MANUALS for package in manual.packages]
    names = dict.fromkeys([*manuals, *LARGE_PACKAGES, *json.loads(kept.read_text())])
    return [name for name in names if not is_forbidden(name)]


def _found_packages(archive: Archive, max_bytes: int) -> list[str]:
    sizes = archive.sizes()
    japanese = archive.holders(
        lambda path: (
            is_japanese_catalogue(path)
            or is_japanese_help(path)
            or is_japanese_manual_page(path)
        )
    )
    english = {
        "usr/share/man/" + path.partition("/man/")[2].partition("/")[2]
        for paths in japanese.values()
        for path in paths
        if is_japanese_manual_page(path)
    }
    originals = archive.holders(english.__contains__)
    counted = Counter({name: len(paths) for name, paths in originals.items()})
    with_pages = [name for name, count in counted.items() if count >= _MIN_PAGES]
    fitting = [
        name
        for name in dict.fromkeys([*japanese, *with_pages])
        if 0 < sizes.get(name, 0) <= max_bytes
    ]
    return sorted(fitting, key=lambda name: -sizes[name])


def _groups(names: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return [tuple(names[at : at + _BATCH]) for at in range(0, len(names), _BATCH)]


def _read(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
