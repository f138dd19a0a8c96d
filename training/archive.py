"""The Debian archive through its own client: what it holds, and packages unpacked.

Everything apt keeps (lists, caches) goes into the work folder, so the machine's own
package state is not touched.
"""

import gzip
import lzma
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from training.refusing import Refused

__all__ = ("Archive", "Unavailable", "read_compressed", "run", "unpack")

_CONTENTS = {
    "MetaKey": "$(COMPONENT)/Contents-$(ARCHITECTURE)",
    "ShortDescription": "Contents-$(ARCHITECTURE)",
    "Description": "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Contents (deb)",
    "flatMetaKey": "Contents-$(ARCHITECTURE)",
    "flatDescription": "$(RELEASE) Contents (deb)",
    "PDiffs": "false",
    "KeepCompressed": "true",
    "DefaultEnabled": "true",
}
"""Makes `apt-get update` fetch the list of all files of all packages too."""


class Unavailable(Refused):
    """A client of an archive failed, with what it said."""


class Archive:
    """Debian packages, downloaded into and unpacked below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists = folder / "lists"
        self._cache = folder / "cache"
        for part in (self._lists / "partial", self._cache / "archives" / "partial"):
            part.mkdir(parents=True, exist_ok=True)
        self._options = [
            f"Dir::State::lists={self._lists}",
            f"Dir::Cache={self._cache}",
            "Dir::Cache::pkgcache=pkgcache.bin",
            "Dir::Cache::srcpkgcache=srcpkgcache.bin",
            "APT::Sandbox::User=",
            "Acquire::Retries=3",
            "Acquire::Languages=",
            "Acquire::Languages::=en",
            "Acquire::Languages::=ja",
            *(
                f"Acquire::IndexTargets::deb::Contents-deb::{key}={value}"
                for key, value in _CONTENTS.items()
            ),
        ]

    def update(self) -> None:
        """Fetch the lists, unless an earlier run has."""
        done = self._folder / "lists.done"
        if not done.exists():
            self._apt("apt-get", "update")
            done.touch()

    def sizes(self) -> dict[str, int]:
        """Bytes to download for every package there is."""
        text = self._apt("apt-cache", "dumpavail")
        found = re.finditer(
            r"^Package: (\S+)$.*?^Size: (\d+)$", text, re.MULTILINE | re.DOTALL
        )
        return {match[1]: int(match[2]) for match in found}

    def holders(self, wanted: Callable[[str], bool]) -> dict[str, list[str]]:
        """Packages and the files in them whose paths are wanted."""
        packages: dict[str, list[str]] = {}
        for index in self._indexes("Created-By: Contents-deb"):
            for line in read_compressed(index):
                path, _, where = line.rstrip().rpartition(" ")
                path = path.rstrip()
                if wanted(path):
                    for place in where.split(","):
                        packages.setdefault(place.rpartition("/")[2], []).append(path)
        return packages

    def download(self, names: Sequence[str], folder: Path) -> dict[str, Path]:
        """Download packages; the file of each that arrived."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._apt("apt-get", "download", *names, folder=folder)
        except Unavailable:
            if len(names) == 1:
                return {}
            halves = names[: len(names) // 2], names[len(names) // 2 :]
            return {
                name: path
                for half in halves
                for name, path in self.download(half, folder).items()
            }
        return {
            path.name.partition("_")[0]: path
            for path in folder.glob("*.deb")
            if path.name.partition("_")[0] in names
        }

    def descriptions(self, language: str) -> list[Path]:
        """The lists with the packages' descriptions in a language."""
        return self._indexes(f"Language: {language}")

    def _indexes(self, which: str) -> list[Path]:
        text = self._apt("apt-get", "indextargets", "--format", "$(FILENAME)", which)
        return [path for line in text.splitlines() if (path := Path(line)).exists()]

    def _apt(self, command: str, *arguments: str, folder: Path | None = None) -> str:
        options = [part for option in self._options for part in ("-o", option)]
        return run([command, "-q", *options, *arguments], folder)


def unpack(package: Path, target: Path, wanted: Callable[[str], bool]) -> None:
    """Unpack the plain files of a package whose paths are wanted."""
    command = [_tool("dpkg-deb"), "--fsys-tarfile", str(package)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,  # noqa: S603 - no shell
        tarfile.open(fileobj=process.stdout, mode="r|") as content,
    ):
        for member in content:
            path = member.name.removeprefix("./")
            data = content.extractfile(member) if member.isfile() else None
            place = target / path
            inside = place.resolve().is_relative_to(target.resolve())
            if data is not None and wanted(path) and inside:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data.read())


def read_compressed(path: Path) -> Iterator[str]:
    """The lines of one of the client's lists, however it is compressed."""
    match path.suffix:
        case ".gz":
            with gzip.open(path, "rt", encoding="utf-8", errors="replace") as stream:
                yield from stream
        case ".xz":
            with lzma.open(path, "rt", encoding="utf-8", errors="replace") as stream:
                yield from stream
        case ".lz4":
            yield from run(["lz4", "-dc", str(path)]).splitlines()
        case _:
            with path.open(encoding="utf-8", errors="replace") as stream:
                yield from stream


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"{name} is not installed")
    return found


def run(command: Sequence[str], folder: Path | None = None) -> str:
    """What a program prints.

    Raises:
        Unavailable: It is not installed, or it failed.
    """
    done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
        [_tool(command[0]), *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise Unavailable(done.stderr.strip()[-500:])
    return done.stdout
