"""``ubp version``: which ubp this is."""

from ubp import __version__
from ubp.cli.options import App, command

__all__ = ("version",)


@command("version")
def version(app: App) -> None:
    """Print the version."""
    app.terminal.show({"version": __version__}, __version__)
