"""How long does a client wait for the server?

Measured:      process start until ``initialize`` is answered, on an indexed vault.
Not measured:  the client's own start; a cold disk.
Compared with: starting Python and importing the low-level server of the SDK.

Run it with ``python -m bench.bench_startup``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.corpus import write_vault
from bench.measured import Measured, best_of, report
from bench.wire import serving

ROUNDS = 5


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        write_vault(Path(folder), 200)
        ubp = [sys.executable, "-m", "ubp"]
        index = [*ubp, "index", "--root", folder, "--quiet"]
        subprocess.run(index, check=True, capture_output=True)
        taken = best_of(ROUNDS, lambda: _greet(Path(folder)))
        sdk = [sys.executable, "-c", "import mcp.server.lowlevel"]
        bare = best_of(ROUNDS, lambda: subprocess.run(sdk, check=True))
    return [
        Measured("initialize", taken * 1_000, "ms", taken / bare, "import of the SDK")
    ]


def _greet(root: Path) -> None:
    with serving(root):
        pass


if __name__ == "__main__":
    report(*measure())
