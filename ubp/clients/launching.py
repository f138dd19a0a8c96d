"""How a client starts this very installation on a project: absolute, and shared."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

__all__ = ("Launch", "launch", "root_of")


class Launch(Struct, frozen=True):
    """A command, its arguments, and what it finds in its environment besides."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = {}

    def starts_the_same(self, other: "Launch") -> bool:
        """Whether both run the same program; what it is to do may differ."""
        return self.program == other.program

    @property
    def program(self) -> tuple[str, ...]:
        """The command, with what comes before the name of ours."""
        end = self.args.index("serve") if "serve" in self.args else len(self.args)
        return (self.command, *self.args[:end])


def launch(root: Path) -> Launch:
    """What starts the server on the project at *root*, wherever it is called from."""
    command, *before = _this_ubp()
    return Launch(command, (*before, "serve", "--shared", "--root", str(root)))


def _this_ubp() -> list[str]:
    """The command that is running now, not another one that has its name."""
    # Not resolved: in a virtual environment both are links, and are meant as links.
    python = Path(os.path.abspath(sys.executable))  # noqa: PTH100
    script = shutil.which("ubp", path=str(python.parent))
    if script is None:
        return [str(python), "-m", "ubp"]
    found = shutil.which("ubp")
    if found is not None and os.path.realpath(found) == os.path.realpath(script):
        script = found  # as from pipx: the name that outlives the next upgrade
    return [os.path.abspath(script)]  # noqa: PTH100


def root_of(args: tuple[str, ...]) -> str | None:
    """The project that these arguments name."""
    for at, argument in enumerate(args):
        if argument == "--root" and at + 1 < len(args):
            return args[at + 1]
        if argument.startswith("--root="):
            return argument.removeprefix("--root=")
    return None
