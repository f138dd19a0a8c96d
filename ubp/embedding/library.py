"""Where the files of models are, and which vectors belong together."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from ubp.config import EmbeddingSettings, cache_folder
from ubp.embedding import conversion, japanese, weights
from ubp.embedding.headers import is_gguf, read_header
from ubp.embedding.models import Model, chosen
from ubp.embedding.placing import copy, make_folder, need_room, placing
from ubp.embedding.remote_choice import key_for
from ubp.errors import ConfigError, ModelMissing, ModelUnusable, UbpError

__all__ = (
    "adapter",
    "check_dimensions",
    "find",
    "folder_for",
    "home",
    "identity",
    "problem",
    "ready",
    "rows",
    "shortcoming",
    "size",
)

_MADE = 70_000_000
"""Bytes of the default's files and a little more."""
_SAMPLES = 16
_SAMPLE = 1 << 16


def folder_for(settings: EmbeddingSettings, root: Path) -> Path:
    """The folder of model files, for the project at *root*.

    Raises:
        ConfigError: ``embedding.models_dir`` begins at the home of nobody.
    """
    if settings.models_dir is None:
        return cache_folder()
    try:
        return root / Path(settings.models_dir).expanduser()
    except RuntimeError:
        raise ConfigError(
            "ubp.toml: embedding.models_dir is not a folder.",
            cause="There is no user of the name that follows the ~.",
            hint="Give a path that is absolute, from ~/, or from the project's root.",
        ) from None


def home(model: Model, folder: Path) -> Path:
    """Where the GGUF file of *model* belongs, whether it is there or not."""
    if model.path:
        return Path(model.path)
    if model.is_default:
        return folder / model.name / f"{model.name}-{_edition()}.layers.gguf"
    return folder / model.name / (model.file or f"{model.name}.gguf")


def _edition() -> str:
    """Tells files of the default model apart that give other vectors."""
    learnt = japanese.digest()
    version = f"f16.v{conversion.VERSION}"
    return f"{version}.{learnt[:8]}" if learnt else version


def adapter(path: Path) -> Path:
    """Where the adapter belongs that goes with the default's file at *path*."""
    return path.with_suffix(".adapter.gguf")


def size(model: Model, path: Path) -> int:
    """Bytes of the file of *model* at *path*, and of those that go with it."""
    files = _files(path) if model.is_default else [path]
    return sum(each.stat().st_size for each in files)


def rows(path: Path) -> Path:
    """Where the rows belong that go with the default's file at *path*."""
    return path.with_suffix(".rows")


def find(model: Model, folder: Path) -> Path | None:
    """The GGUF file of *model*, if it is there and, for the default, whole."""
    if model.url:
        return None
    path = home(model, folder)
    there = _are_whole(path) if model.is_default else _is_file(path)
    return path if there else None


def ready(
    model: Model, folder: Path, progress: Callable[[str], None] = lambda _: None
) -> Path:
    """The GGUF file of *model*; the default's is made on first use.

    Raises:
        ModelMissing: It cannot be had without the network.
        ModelUnusable: What is there is no such file, or it cannot be made.
    """
    path = find(model, folder)
    if path is None and model.is_default:
        path = _make(model, folder, progress)
    if path is None:
        raise _missing(model)
    if not is_gguf(path):
        raise ModelUnusable(
            f"{path.name} is not a GGUF file.",
            cause="It does not begin as GGUF files do.",
            hint=f"Delete {path.name} and fetch it again, or choose another model.",
        )
    return path


def identity(model: Model, folder: Path) -> str:
    """What vectors *model* makes; vectors of two identities are never compared.

    Raises:
        ModelMissing: Its file is not there, so nobody knows.
    """
    if model.url:
        content = f"{model.url} {model.dimension}"
    elif model.is_default:
        content = f"{weights.HASHES['model.safetensors']}/{_edition()}"
    else:
        path = find(model, folder)
        if path is None:
            raise _missing(model)
        content = _sampled(path)
    what = (
        content,
        model.pooling,
        model.query_prefix,
        model.passage_prefix,
        model.window,
    )
    digest = hashlib.sha256(msgspec.json.encode(what)).hexdigest()
    return f"{model.name}@{digest[:16]}"


def check_dimensions(model: Model, folder: Path, wanted: int | None) -> None:
    """Make sure that vectors are of the dimension somebody counts on.

    Raises:
        ConfigError: They are not.
    """
    dimension = model.dimension
    path = find(model, folder)
    if dimension is None and path is not None:
        dimension = read_header(path).dimension
    if wanted not in {None, dimension}:
        raise ConfigError(
            "ubp.toml: embedding.dimensions does not fit the model.",
            cause=f"{model.name} has {dimension}, not {wanted}.",
            hint="Leave the key out; nothing needs it.",
        )


def problem(settings: EmbeddingSettings, root: Path) -> str | None:
    """Why the model the settings ask for cannot be used, as far as files tell."""
    try:
        model = chosen(settings, root)
        if model is None:
            return "Vectors are switched off (embedding.model)."
        folder = folder_for(settings, root)
        check_dimensions(model, folder, settings.dimensions)
        path = find(model, folder)
        if model.url:
            key_for(model)
        elif path is not None:
            read_header(path)
        elif not model.is_default or weights.find(folder) is None:
            raise _missing(model)
    except UbpError as error:
        return f"{error.message} {error.cause} {error.hint}"
    return None


def shortcoming(settings: EmbeddingSettings, root: Path) -> str | None:
    """What the model that can be used cannot do here, though it should."""
    try:
        model = chosen(settings, root)
    except UbpError:
        return None
    fault = japanese.fault() if model is not None and model.is_default else None
    return f"{fault} {japanese.HINT}" if fault else None


def _missing(model: Model) -> ModelMissing:
    if model.path:
        return ModelMissing(
            model.name,
            cause=f"There is no file {Path(model.path).name} at the path it was given.",
            hint="Correct embedding.model, or choose another with `ubp model use`.",
        )
    if not (model.is_default or model.repository):
        return ModelMissing(
            model.name,
            cause="No repository of it is known that is sure to work.",
            hint="Download a GGUF file of it, and run `ubp model use FILE.gguf`.",
        )
    hint = f"Run `ubp model pull {model.name}`; until then search is by words."
    return ModelMissing(model.name, hint=hint)


def _make(model: Model, folder: Path, progress: Callable[[str], None]) -> Path:
    """Several processes may do this at once; each does all of it, and all are right."""
    places = list(weights.candidates(folder))
    if not places:
        raise _missing(model)
    progress("Making the embedding model ready, once …")
    place = next((each for each in places if weights.is_genuine(each)), None)
    if place is None:
        raise ModelUnusable(
            f"The weights of {model.name} are damaged.",
            cause="Their digest is not that of the files that were published.",
            hint=f"Run `ubp model pull {model.name}` to fetch them again.",
        )
    path = home(model, folder)
    make_folder(path.parent)
    need_room(path.parent, _MADE)
    kept = path.parent / weights.TOKENIZER
    copy(place / kept.name, kept)  # complete here, even without the package
    learnt = japanese.FOLDER if japanese.digest() else None
    conversion.convert_layers(place, path)
    conversion.convert_rows(place, rows(path), learnt)
    if learnt is not None:
        conversion.convert_adapter(adapter(path), learnt)
    for each in _files(path):
        with placing(_stamp(each)) as stamp:
            stamp.write_text(str(each.stat().st_size), encoding="ascii")
    _forget_others(model, path)
    return path


def _forget_others(model: Model, path: Path) -> None:
    """Delete what earlier versions made of the same weights: nothing loads it again."""
    stem = path.name.removesuffix(".gguf")
    for each in path.parent.glob(f"{model.name}-f16.v*"):
        if not each.name.startswith(stem):
            # On Windows a server may have it open; in the way it is of nobody.
            with suppress(OSError):
                each.unlink(missing_ok=True)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long, or a folder nobody may look into
        return False


def _stamp(path: Path) -> Path:
    """Says how long the file was when it was made."""
    return path.with_name(f"{path.name}.size")


def _files(path: Path) -> list[Path]:
    """The default's file at *path*, and those that go with it."""
    files = [path, rows(path)]
    return files if japanese.digest() is None else [*files, adapter(path)]


def _are_whole(path: Path) -> bool:
    if not weights.is_published(path.with_name(weights.TOKENIZER)):
        return False
    return all(_is_whole(each) for each in _files(path))


def _is_whole(path: Path) -> bool:
    try:
        size = _stamp(path).read_text(encoding="ascii")
        is_ours = path.suffix != ".gguf" or is_gguf(path)
        return size == str(path.stat().st_size) and is_ours
    except (OSError, ValueError):  # the latter: no number, or no path at all
        return False


def _sampled(path: Path) -> str:
    """A digest of the size, the beginning and samples: big files are not read whole."""
    try:
        size = path.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with path.open("rb") as file:
            for number in range(_SAMPLES + 1):  # the last one ends where the file ends
                file.seek(max(0, size - _SAMPLE) * number // _SAMPLES)
                digest.update(file.read(_SAMPLE))
    except OSError as error:
        raise ModelUnusable(
            f"The model file {path.name} cannot be read.",
            cause=f"{error.strerror or 'input/output error'}.",
            hint="Give yourself permission to read it, or choose another model.",
        ) from None
    return digest.hexdigest()
