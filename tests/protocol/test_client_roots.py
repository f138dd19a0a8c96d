"""Which folders a client's roots are."""

from pathlib import Path

import pytest

from ubp.protocol.client_roots import path_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/a/b", Path("/home/a/b")),
        ("file://localhost/home", Path("/home")),
        ("file:///%E7%AC%AC%E4%BA%8C%20x", Path("/第二 x")),
        ("file://elsewhere/home", None),
        ("https://example.org/x", None),
        ("file:///a%00b", None),
        ("nonsense", None),
        ("file://[", None),
    ],
)
def test_a_root_is_a_folder_of_this_machine_or_nothing(
    uri: str, path: Path | None
) -> None:
    assert path_of(uri) == path
