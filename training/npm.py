"""Documentation that npm's registry has in both languages, by npm's own client.

What is wanted of a package are pages in one JSON file, by language and address. They
are written as HTML, so that they are read like those of any other manual.
"""

import json
import tarfile
from pathlib import Path, PurePosixPath

from training.archive import Unavailable, run

__all__ = ("fetch_pages",)

_LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
_PAGES = "package/dist/docs.json"
_ABOUT = "package/package.json"


def fetch_pages(name: str, download: Path, folder: Path) -> dict[str, object]:
    """Write the pages of the package into *folder*, and tell what it is.

    Raises:
        Unavailable: npm is not installed, or cannot have the package.
    """
    download.mkdir(parents=True, exist_ok=True)
    told = run(["npm", "pack", name, "--json", "--pack-destination", str(download)])
    file = download / json.loads(told)[0]["filename"]
    with tarfile.open(file) as archive:
        about = _json(archive, _ABOUT)
        pages = _json(archive, _PAGES)
    for ours, theirs in _LANGUAGES.items():
        for address, page in pages[theirs].items():
            _write(folder / "pages" / ours, address, page["html"])
    size = file.stat().st_size
    file.unlink()
    return {
        "package": name,
        "version": about["version"],
        "bytes": size,
        "licences": [about["license"]],
    }


def _json(archive: tarfile.TarFile, name: str) -> dict:
    found = archive.extractfile(name)
    if found is None:
        raise Unavailable(f"{archive.name!s} has no {name}")
    with found:
        return json.load(found)


def _write(folder: Path, address: str, html: str) -> None:
    parts = PurePosixPath(address.lstrip("/"))
    if ".." in parts.parts:
        raise ValueError(f"an address that leaves its folder: {address}")
    path = (folder / parts).with_suffix(".html")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8")
