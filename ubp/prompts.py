"""Prompts: the terms in which packs and the protocol speak of what opens a talk."""

from typing import Literal

from msgspec import Struct

__all__ = ("CompleteArgument", "Message", "Messages")


class Message(Struct, frozen=True):
    """Something said, by the one who asks or by the model."""

    text: str
    role: Literal["user", "assistant"] = "user"


class Messages(Struct, frozen=True):
    """What a prompt comes to, with the arguments it was given."""

    messages: list[Message]


class CompleteArgument(Struct, frozen=True, kw_only=True):
    """Say how the value of a prompt's argument may go on."""

    prompt: str
    argument: str
    value: str
    others: dict[str, str] = {}
    """The arguments that have been given already."""
