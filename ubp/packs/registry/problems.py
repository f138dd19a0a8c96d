"""What is wrong with something offered to the registry, field by field."""

from collections.abc import Sequence

from msgspec import Struct

from ubp.errors import CallerError
from ubp.packs.registry.injection import Assessment

__all__ = (
    "Conflict",
    "InvalidContribution",
    "NotAllowed",
    "NotFound",
    "Problem",
    "RegistryError",
    "UnsafeContribution",
)

_MOST_SHOWN = 10


class Problem(Struct, frozen=True):
    """One thing that is wrong: where (names joined by dots), and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class RegistryError(CallerError):
    """A refusal of the registry; its message begins with the word clients know."""

    word: str

    def __init__(self, message: str) -> None:
        super().__init__(f"{self.word}: {message}")
        self.detail = message


class InvalidContribution(RegistryError):
    """It does not have the form it must have."""

    code = "registry.invalid"
    word = "VALIDATION_ERROR"
    cause = "What was offered does not have the form it must have."
    hint = "Correct the fields that are named; `ubp kp validate-file` checks a file."

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in problems[:_MOST_SHOWN]]
        if len(problems) > _MOST_SHOWN:
            shown.append(f"and {len(problems) - _MOST_SHOWN} more")
        super().__init__("; ".join(shown))


class UnsafeContribution(RegistryError):
    """It holds something that no reader should be given."""

    code = "registry.unsafe"
    word = "SANITIZATION_ERROR"
    cause = "It holds hidden characters, or orders to whoever reads it."
    hint = "Take out what is named, and contribute again."

    def __init__(self, message: str, assessment: Assessment | None = None) -> None:
        """*assessment* is what the rules said, if they were asked."""
        super().__init__(message)
        self.assessment = assessment


class NotFound(RegistryError):
    """There is nothing of that id, or nothing that the agent may see."""

    code = "registry.not_found"
    word = "NOT_FOUND"
    cause = "Nothing that this agent may see has that id."
    hint = "`ubp kp list` shows what there is."


class NotAllowed(RegistryError):
    """It is not for this agent to do."""

    code = "registry.not_allowed"
    word = "AUTHENTICATION_ERROR"
    cause = "The agent who acts is not the one who may."
    hint = "KP_AGENT_ID says who acts."


class Conflict(RegistryError):
    """The id is taken."""

    code = "registry.conflict"
    word = "VALIDATION_ERROR"
    cause = "An id belongs to whoever used it first."
    hint = "Leave the id out, and a new one is given."
