"""What a user would otherwise pick, asked the same questions of the same documents."""

from pathlib import Path

__all__ = ("ENVIRONMENT",)

ENVIRONMENT = Path(__file__).parents[2] / ".venv-peers"
"""Where ``make peers`` puts those that are Python packages."""
