"""The packs: every folder in here is one."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ubp.config import Settings
from ubp.errors import ConfigError
from ubp.toolkit import AnyTool, Pack

__all__ = ("discover", "enabled", "operations_of", "tools_of")


@cache
def discover() -> tuple[Pack, ...]:
    """Every pack there is, by name."""
    folders = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
    packs = (import_module(f"{__name__}.{name}").PACK for name in folders)
    return tuple(_with_choices(pack, Settings()) for pack in packs)


def enabled(
    names: Iterable[str] | None, settings: Settings | None = None
) -> tuple[Pack, ...]:
    """The packs of these names, or all of them, with the tools *settings* ask for.

    Raises:
        ConfigError: There is no pack of one of the names, or the settings of one
            cannot be used.
    """
    packs = discover()
    if settings is not None:
        packs = tuple(
            _with_choices(_with_extra_tools(pack, settings), settings) for pack in packs
        )
    if names is None:
        return packs
    wanted = set(names)
    known = {pack.name for pack in packs}
    if not wanted <= known:
        unknown = ", ".join(sorted(wanted - known))
        raise ConfigError(
            f"There is no pack {unknown}.",
            cause="`packs` names something that is not a pack.",
            hint=f"The packs are: {', '.join(sorted(known))}.",
        )
    return tuple(pack for pack in packs if pack.name in wanted)


def _with_extra_tools(pack: Pack, settings: Settings) -> Pack:
    if not (pack.extra_tools and pack.wants_extra_tools(settings)):
        return pack
    return replace(pack, tools=(*pack.tools, *pack.extra_tools), extra_tools=())


def _with_choices(pack: Pack, settings: Settings) -> Pack:
    """Let every tool know the values that its arguments may have."""
    if pack.choices is None:
        return pack
    choices = pack.choices(settings)
    tools = (
        replace(
            tool,
            choices={
                name: choices[name]
                for name in tool.args.__struct_fields__
                if name in choices
            },
        )
        for tool in pack.tools
    )
    return replace(pack, tools=tuple(tools))


def tools_of(packs: Iterable[Pack]) -> dict[str, tuple[Pack, AnyTool]]:
    """The tools of *packs* by every name they answer to."""
    return {
        name: (pack, tool)
        for pack in packs
        for tool in pack.tools
        for name in (tool.name, *tool.aliases)
    }


def operations_of(packs: Iterable[Pack]) -> dict[str, tuple[Pack, AnyTool]]:
    """The same, and all that is behind requests of other kinds: nobody calls these."""
    packs = list(packs)
    behind = {tool.name: (pack, tool) for pack in packs for tool in _behind(pack)}
    return {**tools_of(packs), **behind}


def _behind(pack: Pack) -> Iterator[AnyTool]:
    if (resources := pack.resources) is not None:
        yield resources.listing
        yield resources.read
        if resources.complete is not None:
            yield resources.complete
    if (prompts := pack.prompts) is not None:
        yield from prompts.offered
        if prompts.complete is not None:
            yield prompts.complete
    if (skills := pack.skills) is not None:
        yield skills.listing
        yield skills.get
