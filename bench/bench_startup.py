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

ROUNDS = 5
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":'
    b'"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}\n'
)


def measure() -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        write_vault(Path(folder), 200)
        ubp = [sys.executable, "-m", "ubp"]
        index = [*ubp, "index", "--root", folder, "--quiet"]
        subprocess.run(index, check=True, capture_output=True)
        serve = [*ubp, "serve", "--root", folder, "--quiet"]
        taken = best_of(ROUNDS, lambda: _greet(serve))
        sdk = [sys.executable, "-c", "import mcp.server.lowlevel"]
        bare = best_of(ROUNDS, lambda: subprocess.run(sdk, check=True))
    return [
        Measured("initialize", taken * 1_000, "ms", taken / bare, "import of the SDK")
    ]


def _greet(command: list[str]) -> None:
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        if server.stdin is None or server.stdout is None:
            raise OSError
        server.stdin.write(HELLO)
        server.stdin.flush()
        server.stdout.readline()
        server.kill()


if __name__ == "__main__":
    report(*measure())
