"""Start the service, call one tool, print the answer.

Run it with ``python examples/minimal_client.py [FOLDER] [QUESTION]``. It uses the
official MCP client, as any agent would. You should see the titles of the pages found,
best first, each with the path to cite.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

VAULT = Path(__file__).parent / "vault"


async def ask(folder: Path, question: str) -> dict[str, Any]:
    """What ``ubp_search`` answers about the documents in *folder*."""
    ubp = shutil.which("ubp", path=str(Path(sys.executable).parent)) or "ubp"
    server = StdioServerParameters(
        command=ubp, args=["serve", "--root", str(folder), "--quiet"]
    )
    async with (
        stdio_client(server) as (incoming, outgoing),
        ClientSession(incoming, outgoing) as client,
    ):
        await client.initialize()
        while True:
            # A folder never seen before is being indexed while we ask.
            answer = await client.call_tool("ubp_search", {"query": question})
            found: dict[str, Any] = answer.structured_content or {}
            if found["results"]:
                return found
            await anyio.sleep(0.1)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else VAULT
    question = sys.argv[2] if len(sys.argv) > 2 else "session expiry"  # noqa: PLR2004
    for result in anyio.run(ask, folder, question)["results"]:
        print(f"{result['title']}  ({result['filepath']})")


if __name__ == "__main__":
    main()
