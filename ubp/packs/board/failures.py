"""What can go wrong with a board."""

import errno

from ubp.errors import CallerError, ServiceError

__all__ = (
    "BoardUnavailable",
    "Conflict",
    "Denied",
    "InvalidValue",
    "NotFound",
    "no_board",
    "refused",
)


class InvalidValue(CallerError):
    """An argument says something that a board cannot hold."""

    code = "board.invalid"
    cause = "An argument has a value that does not fit."
    hint = "Correct it; the manual of the board (`ubp tools`) says what fits."


class NotFound(CallerError):
    """There is no such card, or no such board."""

    code = "board.not_found"
    category = "not-found"
    cause = "No file of the board has that id, or there is no board."
    hint = "Run `ubp board list --include-done` to see every card."


class Denied(CallerError):
    """It would leave the board, or touch what is not the caller's."""

    code = "board.denied"
    category = "permission-denied"
    cause = "It leads out of the board, or to a name the board keeps for itself."
    hint = "Use a column of the board, and a board inside the client's roots."


class Conflict(CallerError):
    """It contradicts what is on the board."""

    code = "board.conflict"
    category = "conflict"
    cause = "It contradicts what is on the board now."
    hint = "Look at the cards again, and decide what should hold."


class BoardUnavailable(ServiceError):
    """The files of the board cannot be used."""

    code = "board.unavailable"
    cause = "A file or folder of the board cannot be read or written."
    hint = "Check the permissions of .kanban and the room on the disk."


def no_board() -> NotFound:
    return NotFound(
        "There is no board here.",
        cause="The folder has no .kanban.",
        hint="Run `ubp board new TITLE` to make one, or name it with --board.",
    )


def refused(message: str, error: OSError) -> BoardUnavailable | Denied:
    """What *error* of the system is to whoever asked."""
    cause = f"{error.strerror or 'input/output error'}."
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        hint = "Check the permissions of .kanban and what is in it."
        return Denied(message, cause=cause, hint=hint)
    return BoardUnavailable(message, cause=cause)
