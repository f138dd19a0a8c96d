"""Headers: read as the library reads them, and damage is an error, never a crash."""

from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.embedding.headers import Header, read_header
from ubp.errors import ModelUnusable


def write(path: Path, *, pooling: int | None = gguf.PoolingType.CLS) -> bytes:
    """A file with a value of every kind."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("Größe")
    writer.add_uint8("a.u8", 1)
    writer.add_int8("a.i8", -1)
    writer.add_uint16("a.u16", 1)
    writer.add_int16("a.i16", -1)
    writer.add_int32("a.i32", -1)
    writer.add_uint64("a.u64", 1)
    writer.add_int64("a.i64", -1)
    writer.add_float32("a.f32", 0.5)
    writer.add_float64("a.f64", 0.5)
    writer.add_bool("a.bool", val=True)
    writer.add_array("a.numbers", [1, 2, 3])
    writer.add_array("a.texts", ["x", "yy", ""])
    writer.add_embedding_length(8)
    writer.add_context_length(64)
    if pooling is not None:
        writer.add_uint32("bert.pooling_type", pooling)
    writer.add_tokenizer_model("bert")
    writer.add_tensor("first", np.zeros((2, 8), np.float32))
    writer.add_tensor("second", np.ones((3, 8), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def test_a_header_is_read(tmp_path: Path) -> None:
    write(tmp_path / "model.gguf")

    assert read_header(tmp_path / "model.gguf") == Header(
        architecture="bert",
        name="Größe",
        dimension=8,
        context_length=64,
        pooling="cls",
        tokenizer="bert",
        tensors=2,
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [(each.value, each.name.lower()) for each in gguf.PoolingType]
    + [(None, None), (99, None)],
)
def test_every_pooling_has_its_name(
    tmp_path: Path, kind: int | None, name: str | None
) -> None:
    write(tmp_path / "model.gguf", pooling=kind)

    assert read_header(tmp_path / "model.gguf").pooling == name


def test_a_file_cut_short_anywhere_is_damaged(tmp_path: Path) -> None:
    whole = write(tmp_path / "model.gguf")
    cut = tmp_path / "cut.gguf"

    for length in range(len(whole) - 32):  # a file ends with what fills it up
        cut.write_bytes(whole[:length])
        with pytest.raises(ModelUnusable):
            read_header(cut)


@given(data=st.data())
def test_any_damage_is_a_header_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    whole = bytearray(write(path))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(4, len(whole) - 9))
        whole[at : at + 8] = data.draw(st.binary(min_size=8, max_size=8))
    path.write_bytes(whole)

    try:
        header = read_header(path)
    except ModelUnusable as error:
        assert path.name in error.message
    else:
        assert header.architecture


@pytest.mark.parametrize(
    "content", [b"", b"<!DOCTYPE html>", b"GGUF", b"GGUF" + b"\xff" * 400]
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(content)

    with pytest.raises(ModelUnusable):
        read_header(other)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable):
        read_header(tmp_path / "none.gguf")
