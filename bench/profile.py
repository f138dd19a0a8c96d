"""Flame graphs of indexing and of a mix of calls: ``make profile``.

Written to ``build/`` as SVG by py-spy, which looks at the processes from outside, so
that what is measured runs as it always does. Where the system forbids that, as macOS
does without root, py-spy says so.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from bench.bench_load import drive, mix
from bench.corpus import write_vault
from bench.pool import serving_many
from bench.prepared import Prepared, prepared

_SPY = (str(Path(sys.executable).with_name("py-spy")), "record", "--subprocesses")
_UBP = (sys.executable, "-m", "ubp")
_SECTIONS = 10_000
_FILES = 2_000
_SECONDS = 20


def main() -> None:
    """Write both."""
    build = Path("build")
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write_vault(Path(folder), _FILES)
        index = [*_UBP, "index", "--root", folder, "--quiet", "--no-embed"]
        out = ["--output", str(build / "profile-indexing.svg")]
        subprocess.run([*_SPY, *out, "--", *index], check=True)
    with prepared(_SECTIONS) as project:
        anyio.run(_queries, project, build / "profile-queries.svg")


async def _queries(project: Prepared, out: Path) -> None:
    async with serving_many(project.root) as server:
        calls = await mix(server, project)
        await drive(server, calls, 1, 2.0)
        options = ["--duration", str(_SECONDS), "--output", str(out)]
        spy = [*_SPY, *options, "--pid", str(server.pid)]
        async with await anyio.open_process(spy, stdout=None, stderr=None) as process:
            await drive(server, calls, 2, _SECONDS)
            await process.wait()


if __name__ == "__main__":
    main()
