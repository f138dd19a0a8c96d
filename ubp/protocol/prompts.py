"""Answers what clients ask of prompts: list, get, complete."""

from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from ubp.errors import InvalidArguments, shortened
from ubp.prompts import CompleteArgument, Messages
from ubp.protocol.completions import answer, known_values
from ubp.protocol.dispatch import Dispatcher, checked
from ubp.protocol.paging import bad_cursor
from ubp.protocol.schema import object_schema
from ubp.resources import Completions
from ubp.toolkit import AnyTool, Pack, Prompts

__all__ = ("PromptRequests",)

_Request = ServerRequestContext[Any, Any]


class PromptRequests:
    """The handlers of requests about the prompts of all packs."""

    def __init__(self, dispatcher: Dispatcher, packs: Sequence[Pack]) -> None:
        self._dispatcher = dispatcher
        self._prompts: dict[str, tuple[Prompts, AnyTool]] = {
            prompt.name: (pack.prompts, prompt)
            for pack in packs
            if pack.prompts is not None
            for prompt in pack.prompts.offered
        }
        self._listed = [_described(prompt) for _, prompt in self._prompts.values()]

    async def listing(
        self, _: _Request, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        """All of them, in the order of the packs."""
        if params.cursor is not None:  # there are few, so nobody was ever given one
            raise bad_cursor()
        return types.ListPromptsResult(prompts=self._listed)

    async def get(
        self, ctx: _Request, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        _, prompt = self._find(params.name)
        args = checked(prompt, params.arguments, all_text=True)
        made: Messages = await self._dispatcher.run(prompt, args, str(ctx.request_id))
        return types.GetPromptResult(
            description=_told(prompt),
            messages=[
                types.PromptMessage(
                    role=message.role, content=types.TextContent(text=message.text)
                )
                for message in made.messages
            ],
        )

    async def complete(
        self, ctx: _Request, params: types.CompleteRequestParams, name: str
    ) -> types.CompleteResult:
        """How the value of an argument of the prompt *name* may go on."""
        prompts, prompt = self._find(name)
        if params.argument.name not in prompt.args.__struct_encode_fields__:
            argument = shortened(params.argument.name)
            raise InvalidArguments(f"The prompt has no argument {argument!r}.")
        found = Completions([], 0)
        if prompts.complete is not None:
            args = CompleteArgument(
                prompt=name,
                argument=params.argument.name,
                value=params.argument.value,
                others=known_values(params),
            )
            request_id = str(ctx.request_id)
            found = await self._dispatcher.run(prompts.complete, args, request_id)
        return answer(found)

    def _find(self, name: str) -> tuple[Prompts, AnyTool]:
        try:
            return self._prompts[name]
        except KeyError:
            message = f"There is no prompt {shortened(name)!r}."
            raise InvalidArguments(message) from None


def _told(prompt: AnyTool) -> str:
    """All that is said of it: people read it before they choose, and models do not."""
    return " ".join((prompt.description, *prompt.details))


def _described(prompt: AnyTool) -> types.Prompt:
    schema = object_schema(prompt.args)
    required = schema.get("required", ())
    return types.Prompt(
        name=prompt.name,
        description=_told(prompt),
        arguments=[
            types.PromptArgument(
                name=name,
                description=argument.get("description"),
                required=name in required,
            )
            for name, argument in schema["properties"].items()
        ],
    )
