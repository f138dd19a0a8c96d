"""A real client session with a real server, shown on the terminal.

Run it with ``make demo``. It copies ``examples/vault`` to a temporary folder, so that
nothing is left behind, indexes it with ``ubp index``, starts ``ubp serve`` and talks to
it with the official MCP client: list the tools, search in English and Japanese, read a
page, walk the graph, and see a page become stale when its source changes.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from rich.console import Console
from rich.text import Text

from ubp.cli.terminal import marked

VAULT = Path(__file__).parent / "vault"
UBP = shutil.which("ubp", path=str(Path(sys.executable).parent)) or "ubp"

console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)


def say(text: str) -> None:
    console.print(f"\n[bold cyan]{text}[/]")


async def call(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, and show the call."""
    shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    say(f"→ {tool}({shown})")
    answer = await client.call_tool(tool, arguments)
    return answer.structured_content or {}


async def search(client: ClientSession, query: str) -> None:
    found = await call(client, "ubp_search", query=query, limit=3)
    for result in found["results"]:
        title = Text(f"  {result['title']}", style="bold")
        console.print(title.append(f"  {result['filepath']}", style="not bold dim"))
        console.print(Text("    ") + marked(result["sections"][0]["content"], 300))


async def session(project: Path) -> None:
    server = StdioServerParameters(
        command=UBP, args=["serve", "--root", str(project), "--quiet"]
    )
    async with (
        stdio_client(server) as (incoming, outgoing),
        ClientSession(incoming, outgoing) as client,
    ):
        hello = await client.initialize()
        say(f"connected to {hello.server_info.name} {hello.server_info.version}")
        for tool in (await client.list_tools()).tools:
            first = (tool.description or "").partition(". ")[0]
            console.print(f"  [bold]{tool.name}[/]  {first}.")

        await search(client, "session expires without activity")
        await search(client, "延滞料金の上限")

        page = await call(client, "ubp_get_page", filepath="specs/lending-rules.md")
        links = (len(page["outlinks"]), len(page["backlinks"]))
        console.print(f"  [bold]{page['title']}[/] is [green]{page['staleness']}[/]")
        console.print(f"  {links[0]} links lead out, {links[1]} lead in")

        graph = await call(
            client, "ubp_get_graph", center="specs/lending-rules.md", depth=1
        )
        names = {node["id"]: node["filepath"] for node in graph["nodes"]}
        for edge in graph["edges"][:8]:
            source, target = names[edge["source"]], names[edge["target"]]
            console.print(f"  {source} [dim]{edge['type']}[/] {target}")

        say("somebody changes src/loans.py …")
        with (project / "src/loans.py").open("a", encoding="utf-8") as file:
            file.write("\n# changed\n")
        page = await call(client, "ubp_get_page", filepath="specs/lending-rules.md")
        console.print(f"  the page is now [red]{page['staleness']}[/]")
        console.print(f"  because of {', '.join(page['stale_refs'])}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "hondana"
        shutil.copytree(VAULT, project)
        say(f"$ ubp index --root {project}")
        subprocess.run([UBP, "index", "--root", project], check=True)  # noqa: S603
        anyio.run(session, project)


if __name__ == "__main__":
    main()
