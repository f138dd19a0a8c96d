"""What every test gets: asyncio underneath anyio, and property tests with a bound."""

import os

import pytest
from hypothesis import settings

settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize="CI" in os.environ
)
settings.register_profile("thorough", max_examples=3_000, deadline=None)
settings.load_profile("quick")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
