"""The picture of a terminal in the README, from what the commands really print.

Run it with ``make picture``. It copies ``examples/vault`` to a temporary folder, runs
the commands on a terminal of their own, and writes ``docs/terminal.svg``.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs/terminal.svg"
UBP = [sys.executable, "-m", "ubp"]
WIDTH = 100

GREETING = """\
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
"capabilities":{},"clientInfo":{"name":"picture","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ubp_search",\
"arguments":{"query":"who may renew a loan"}}}
"""


def on_a_terminal(arguments: list[str], folder: Path) -> str:
    """What the command prints when a person runs it, colours and all."""
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLUMNS": str(WIDTH),
    }
    with subprocess.Popen(  # noqa: S603 - our own command
        [*UBP, *arguments], cwd=folder, stdout=theirs, env=environment
    ):
        os.close(theirs)
        printed = b""
        try:
            while some := os.read(ours, 65_536):
                printed += some
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def cut(lines: str, width: int = WIDTH) -> Text:
    """*lines*, each no longer than the terminal is wide."""
    text = Text("\n").join(Text.from_ansi(line) for line in lines.splitlines())
    shown = [line for line in text.split("\n") if line.plain.strip()]
    for line in shown:
        line.truncate(width, overflow="ellipsis")
    return Text("\n").join(shown)


def main() -> None:
    """Run the commands, and draw."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
    ):
        vault = Path(shutil.copytree(HERE / "vault", Path(folder) / "vault"))
        subprocess.run([*UBP, "index", "-q"], cwd=vault, check=True)  # noqa: S603
        with (vault / "src/loans.py").open("a", encoding="utf-8") as source:
            source.write("\n# changed\n")
        subprocess.run(  # noqa: S603
            [*UBP, "serve"],
            cwd=vault,
            input=GREETING,
            text=True,
            check=True,
            stdout=nowhere,
            stderr=nowhere,
        )
        console = Console(record=True, width=WIDTH, file=nowhere)
        for command in (
            ["search", "how many books may I borrow", "--limit", "2"],
            ["search", "延滞", "--fulltext", "--limit", "1"],
            ["stale"],
            ["logs", "--slow"],
        ):
            words = " ".join(f'"{word}"' if " " in word else word for word in command)
            console.print(Text.assemble(("$ ", "green"), (f"ubp {words}", "bold")))
            console.print(cut(on_a_terminal(command, vault)), highlight=False)
    picture = console.export_svg(title="ubp", theme=MONOKAI, unique_id="ubp")
    # Without the font it would fetch from elsewhere: any fixed one will do.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    picture = picture.replace("Fira Code", "ui-monospace, Menlo, Consolas")
    PICTURE.write_text(picture, encoding="utf-8")
    sys.stdout.write(f"{PICTURE.name}: {len(picture):,} characters\n")


if __name__ == "__main__":
    main()
