"""``ubp notes``: the notes tools, for people."""

import re
from typing import Any

import click

from ubp.cli.asking import ask_tool
from ubp.cli.options import App, command, group
from ubp.cli.terminal import counted, marked
from ubp.questions import words_to_mark
from ubp.snippets import snippet

__all__ = ("notes",)

_EXCERPT = 400
"""Characters of a passage that are shown."""

_SHOWN = 600


@group("notes")
def notes() -> None:
    """Find and read your personal notes."""


@command("search")
@click.argument("query")
@click.option(
    "--tag", "tags", multiple=True, help="Only notes with this tag; may be repeated."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 50, clamp=True),
    default=5,
    help="Most results.",
)
def search(app: App, query: str, tags: tuple[str, ...], limit: int) -> None:
    """Find what you once wrote about QUERY."""
    from rich.text import Text

    arguments: dict[str, Any] = {"query": query, "tags": list(tags), "limit": limit}
    found = ask_tool(app, "search_docs", arguments)
    words = words_to_mark(query)
    lines: list[Any] = []
    for number, hit in enumerate(found.result, start=1):
        line = Text(f"{number}. {hit.title}", style="bold")
        if hit.heading != hit.title:
            line.append(f" › {hit.heading}", style="not bold")
        line.append(f"  {hit.file_path}", style="not bold cyan")
        line.append(f"  {hit.similarity:.3f}", style="not bold dim")
        lines.append(line)
        excerpt = snippet(_without_marks(hit.content), words, _EXCERPT)
        lines.append(Text("   ") + marked(excerpt, _SHOWN))
    lines.append(Text(f"{counted(len(found.result), 'passage')} found", style="dim"))
    if not found.result:
        least = app.project().settings.notes.similarity_threshold
        hint = f"Nothing is as similar as {least:g} (notes.similarity_threshold)."
        lines.append(Text(hint, style="dim"))
    if found.notice:
        lines.append(Text(f"By words only. {found.notice}", style="dim"))
    app.terminal.show(found.elements(), *lines)


@command("get")
@click.argument("path")
def get(app: App, path: str) -> None:
    """Show the note at PATH in full."""
    from rich.text import Text

    note = ask_tool(app, "get_doc", {"file_path": path})
    head = Text(note.title, style="bold")
    head.append(f"  {note.file_path}", style="not bold cyan")
    if note.superseded:
        head.append("  replaced by a newer one", style="not bold red")
    tags = [Text(f"Tags: {', '.join(note.tags)}", style="dim")] if note.tags else []
    app.terminal.show(note, head, *tags, Text(), Text(note.content))


@command("tags")
def tags(app: App) -> None:
    """List the tags, the most used first."""
    from rich.markup import escape

    found = ask_tool(app, "list_tags", {})
    table = app.terminal.table("tag", "notes")
    for each in found.tags:
        table.add_row(escape(each.tag), str(each.count))
    lines = [table] if found.tags else ["No note has a tag."]
    app.terminal.show(found, *lines)


def _without_marks(content: str) -> str:
    """*content*, in which nothing looks like a mark of ours."""
    return re.sub("</?mark>", "", content)


for _each in (search, get, tags):
    notes.add_command(_each)
