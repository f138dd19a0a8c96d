"""What a step refuses to do, told in a line instead of a traceback."""

from click import ClickException

__all__ = ("Refused",)


class Refused(ClickException):
    """A step cannot do what it was asked; the message says why."""
