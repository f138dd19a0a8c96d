"""llama.cpp through its low-level interface: token ids in, vectors out.

A model whose file has no vocabulary is handed the rows of the ids (``word_rows``).

Only the embedding process imports this. llama.cpp ends the process on what it takes for
a programming error, so everything it could stumble over is checked here first.
"""

import ctypes
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubp.embedding.models import Pooling
from ubp.embedding.tokens import Frame
from ubp.embedding.word_rows import WordRows
from ubp.errors import ModelUnusable

# Before the library is loaded: on an abort it would start a debugger that prints to
# standard output, and its threads would spin while they wait, taking the cores from
# everything else.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import llama_cpp

__all__ = ("Adapter", "LlamaContext", "LlamaModel", "LlamaTokens")

_POOLING = {
    None: llama_cpp.LLAMA_POOLING_TYPE_UNSPECIFIED,
    "mean": llama_cpp.LLAMA_POOLING_TYPE_MEAN,
    "cls": llama_cpp.LLAMA_POOLING_TYPE_CLS,
    "last": llama_cpp.LLAMA_POOLING_TYPE_LAST,
}
_EMBEDS = set(_POOLING.values()) - {llama_cpp.LLAMA_POOLING_TYPE_UNSPECIFIED}

_NO_VOCABULARY = llama_cpp.LLAMA_VOCAB_TYPE_NONE
_MOST_TOGETHER = 8
"""Short texts computed in one go; more gain nothing, and long ones lose by it."""

_ERROR = 4  # ggml's level
_complaints: list[str] = []


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _listen(level: int, text: bytes, _: Any) -> None:
    """Keep what went wrong, drop the rest; as a module's name it stays alive."""
    if level == _ERROR:
        _complaints.append(text.decode("utf-8", "replace").strip())
        del _complaints[8:]


class Adapter(NamedTuple):
    """A correction of the layers, for some texts only."""

    path: Path
    first: int
    """Texts with an id from this one on are computed with it."""


class LlamaModel:
    """A model file, loaded once; contexts share its weights.

    Raises:
        ModelUnusable: It cannot be loaded, or is no embedding model.
    """

    def __init__(
        self,
        path: Path,
        pooling: Pooling | None,
        window: int,
        adapter: Adapter | None = None,
        rows: Path | None = None,
    ) -> None:
        llama_cpp.llama_log_set(_listen, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        _complaints.clear()
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = 0
        # Not mapped: a file that is overwritten must not change a model in use.
        params.load_mode = llama_cpp.LLAMA_LOAD_MODE_NONE
        self._model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            raise ModelUnusable(
                f"The model {path.name} cannot be loaded.", cause=_why("no GGUF model")
            )
        self._pooling = _POOLING[pooling]
        trained = llama_cpp.llama_model_n_ctx_train(self._model)
        self.window = min(window, trained) if trained > 0 else window
        self.dimension: int = llama_cpp.llama_model_n_embd(self._model)
        self.vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self.name = path.name
        self._adapter = _Loaded(self._model, adapter) if adapter else None
        self._rows = rows

    @cached_property
    def tokens(self) -> "LlamaTokens":
        if llama_cpp.llama_vocab_type(self.vocabulary) == _NO_VOCABULARY:
            raise ModelUnusable(
                f"{self.name} has no vocabulary.",
                cause="Text cannot be cut into what the model knows.",
                hint="Choose a whole model from `ubp model list`, or another file.",
            )
        return LlamaTokens(self.vocabulary)

    def context(self, threads: int) -> "LlamaContext":
        """A place to compute in, for one thread at a time."""
        params = llama_cpp.llama_context_default_params()
        # Smaller than one call's tokens, any of the three ends the process.
        params.n_ctx = params.n_batch = params.n_ubatch = self.window
        params.n_seq_max = _MOST_TOGETHER
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        params.kv_unified = True
        params.no_perf = True
        params.pooling_type = self._pooling
        context = llama_cpp.llama_init_from_model(self._model, params)
        if not context:
            raise ModelUnusable(
                f"The model {self.name} cannot be started.",
                cause=_why("not enough memory"),
            )
        if llama_cpp.llama_pooling_type(context) not in _EMBEDS:
            raise ModelUnusable(
                f"{self.name} is not an embedding model.",
                cause="The file does not say how its tokens become one vector.",
                hint="Choose one from `ubp model list`, or set embedding.pooling.",
            )
        rows = WordRows(self._rows, self.dimension) if self._rows else None
        return LlamaContext(context, self.window, self.dimension, self._adapter, rows)


class _Loaded:
    """An adapter in memory, shared by the contexts of its model."""

    def __init__(self, model: Any, adapter: Adapter) -> None:
        path = os.fsencode(adapter.path)
        handle = llama_cpp.llama_adapter_lora_init(model, path)
        if not handle:
            raise ModelUnusable(
                f"The adapter {adapter.path.name} cannot be loaded.",
                cause=_why("no adapter of this model"),
            )
        self._handles = (llama_cpp.llama_adapter_lora_p_ctypes * 1)(handle)
        self._scales = (ctypes.c_float * 1)(1.0)
        self.first = adapter.first

    def switch(self, context: Any, *, on: bool) -> None:
        chosen = (self._handles, 1, self._scales) if on else (None, 0, None)
        if llama_cpp.llama_set_adapters_lora(context, *chosen):
            raise ModelUnusable("llama.cpp could not switch the adapter.")


class LlamaContext:
    """Computes vectors. Not for two threads at once."""

    def __init__(
        self,
        context: Any,
        window: int,
        dimension: int,
        adapter: _Loaded | None,
        rows: WordRows | None,
    ) -> None:
        self._context = context
        self._adapter = adapter
        self._memory = llama_cpp.llama_get_memory(context)
        self._window = window
        self._dimension = dimension
        self._rows = rows
        width = dimension if rows else 0
        self._batch = llama_cpp.llama_batch_init(window, width, 1)
        if rows:  # the batch has room for these, and none for ids
            self._words = np.ctypeslib.as_array(self._batch.embd, (window, dimension))

    def vectors(self, texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The vector of each text, of length one.

        Raises:
            ModelUnusable: llama.cpp refused, or computed something that is no vector.
        """
        found = np.empty((len(texts), self._dimension), np.float32)
        plain, adapted = self._parted(texts)
        for indexes, on in ((plain, False), (adapted, True)):
            if indexes:
                if self._adapter is not None:
                    self._adapter.switch(self._context, on=on)
                self._compute_all(indexes, texts, found)
        length = np.linalg.norm(found, axis=1, keepdims=True)
        if not (np.isfinite(length).all() and (length > 0).all()):
            raise ModelUnusable("The model computed something that is no vector.")
        return np.asarray(found / length, np.float32)

    def _parted(self, texts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
        """Those to be computed as the model is, and those with its adapter."""
        parts: tuple[list[int], list[int]] = ([], [])
        for index, text in enumerate(texts):
            adapter = self._adapter
            on = adapter is not None and max(text, default=0) >= adapter.first
            parts[on].append(index)
        return parts

    def _compute_all(
        self,
        indexes: Sequence[int],
        texts: Sequence[Sequence[int]],
        found: NDArray[np.float32],
    ) -> None:
        """Short texts together, long ones alone."""
        # Longest first: llama.cpp makes and clears a new buffer whenever one grows.
        order = sorted(indexes, key=lambda index: -len(texts[index]))
        group: list[int] = []
        used = 0
        for index in order:
            size = len(texts[index])
            if group and (used + size > self._window or len(group) == _MOST_TOGETHER):
                self._compute(group, texts, found)
                group, used = [], 0
            group.append(index)
            used += size
        if group:
            self._compute(group, texts, found)

    def _compute(
        self,
        group: Sequence[int],
        texts: Sequence[Sequence[int]],
        found: NDArray[np.float32],
    ) -> None:
        batch = self._batch
        place = 0
        for sequence, index in enumerate(group):
            if self._rows:
                self._rows.into(self._words[place:], texts[index])
            for position, token in enumerate(texts[index]):
                if not self._rows:
                    batch.token[place] = token
                batch.pos[place] = position
                batch.n_seq_id[place] = 1
                batch.seq_id[place][0] = sequence
                batch.logits[place] = 1
                place += 1
        batch.n_tokens = place
        if self._memory:
            llama_cpp.llama_memory_clear(self._memory, True)
        if llama_cpp.llama_decode(self._context, batch):
            raise ModelUnusable(
                "llama.cpp could not compute a vector.", cause=_why("no reason given")
            )
        for sequence, index in enumerate(group):
            pointer = llama_cpp.llama_get_embeddings_seq(self._context, sequence)
            if not pointer:
                raise ModelUnusable("llama.cpp computed no vector.")
            found[index] = np.ctypeslib.as_array(pointer, (self._dimension,))


class LlamaTokens:
    """The tokenizer a model file brings along."""

    def __init__(self, vocabulary: Any) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def frame(self) -> Frame:
        # What the library itself puts around a text is what the model was trained on.
        inner = self.ids("a")
        whole = self._ids("a", special=True)
        start = next(
            (at for at in range(len(whole)) if whole[at : at + len(inner)] == inner), 0
        )
        return Frame(tuple(whole[:start]), tuple(whole[start + len(inner) :]))

    @property
    def unknown(self) -> frozenset[int]:
        return frozenset()  # files seldom say

    def ids(self, text: str) -> list[int]:
        return self._ids(text, special=False)

    def tells_voiced_kana(self) -> bool:
        """Whether が and か differ: wrongly built files lose the difference."""
        return self.ids("がぎぐ") != self.ids("かきく")

    def _ids(self, text: str, *, special: bool) -> list[int]:
        raw = text.encode("utf-8", "replace")
        room = len(raw) + 8
        while True:
            buffer = (llama_cpp.llama_token * room)()
            count: int = llama_cpp.llama_tokenize(
                self._vocabulary, raw, len(raw), buffer, room, special, False
            )
            if count >= 0:
                return list(buffer[:count])
            room = -count


def _why(otherwise: str) -> str:
    """The first complaint since the last one told: those that follow only repeat it."""
    found = _complaints[0] if _complaints else otherwise
    _complaints.clear()
    return f"{found}."
