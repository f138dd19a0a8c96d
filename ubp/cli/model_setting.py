"""One setting of ubp.toml, ``embedding.model``: understood as typed, and written."""

import tomllib
from collections.abc import MutableMapping
from pathlib import Path

from msgspec.structs import replace

from ubp.cli.user_files import write_whole
from ubp.config import FILE_NAME
from ubp.embedding import library, models
from ubp.embedding.models import OFF, SUFFIX, Model
from ubp.errors import ConfigError
from ubp.project import Project

__all__ = ("typed", "write_model")

_NEW = "# Settings of ubp; every key is optional. See docs/configuration.md.\n\n"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Some editors begin a file with it."""


def typed(name: str, project: Project) -> tuple[str, Model | None]:
    """What a person means by *name*: the value of the setting, and the model.

    Raises:
        ConfigError: There is no model of that name.
        ModelMissing: There is no such file.
        ModelUnusable: It is not a GGUF file.
    """
    root = project.root
    value = _path_typed(name, root) if name.casefold().endswith(SUFFIX) else name
    model = models.chosen(replace(project.settings.embedding, model=value), root)
    if model is None:
        return OFF, None
    if not model.path:
        return model.name, model
    library.ready(model, root)
    return value, model


def _path_typed(name: str, root: Path) -> str:
    """A person means a path from where they are; the settings, from the root."""
    try:
        here = Path(name).expanduser().resolve()
        if not here.exists():
            return name
    except (OSError, RuntimeError, ValueError):  # no such user, or no path at all
        return name
    inside = here.is_relative_to(root)
    return here.relative_to(root).as_posix() if inside else str(here)


def write_model(file: Path, value: str) -> bool:
    """Set the model in the settings *file*; say whether that changed anything.

    Raises:
        ConfigError: The file cannot be changed without changing more of it.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text = _NEW
    try:
        if file.exists():
            text = file.read_bytes().decode("utf-8")
        body = text.removeprefix(_MARK).replace("\r\n", "\n")
        document = tomlkit.parse(body)
        if "embedding" not in document:
            document["embedding"] = tomlkit.table()
        table: object = document["embedding"]
        if not isinstance(table, MutableMapping):
            raise _by_hand(value)
        if table.get("model") == value:
            return False
        table["model"] = value
        made = tomlkit.dumps(document)
        if tomllib.loads(made)["embedding"]["model"] != value:
            raise _by_hand(value)
        made = made.replace("\n", "\r\n") if "\r\n" in text else made
        write_whole(file, _MARK * text.startswith(_MARK) + made)
    except (OSError, ValueError, KeyError, TypeError, TOMLKitError) as error:
        raise _by_hand(value) from error
    return True


def _by_hand(value: str) -> ConfigError:
    return ConfigError(
        f"{FILE_NAME} could not be changed.",
        cause="It cannot be written, or it is written in a way we do not dare to edit.",
        hint=f"Add it yourself: model = {value!r} below [embedding].",
    )
