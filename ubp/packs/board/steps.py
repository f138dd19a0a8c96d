"""The moments at which a process that changes a board may be killed, or interrupted."""

__all__ = ("step",)


def step(name: str) -> None:
    """Called before every step that others can see; tests stop here."""
    del name
