"""What every test gets: asyncio underneath anyio, property tests with a bound, models."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from ubp.config import cache_folder
from ubp.embedding import library
from ubp.embedding.models import DEFAULT

settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize="CI" in os.environ
)
settings.register_profile("thorough", max_examples=3_000, deadline=None)
settings.load_profile("quick")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def logs_as_they_come() -> Iterator[None]:
    """What a command sets up for its logs ends with the test that ran it."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's cache, of ours and of every process we start: not the developer's."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def models(cache: Path) -> Path:
    """The folder of models, with the default one in it, made once."""
    folder = cache_folder()
    assert folder.is_relative_to(cache)
    library.ready(DEFAULT, folder)
    return folder
