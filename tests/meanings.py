"""Pages with real vectors in a database of their own, without any actor."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw
import numpy as np
from databases import with_pages

from ubp.embedding import japanese, library, weights
from ubp.embedding.llama import Adapter, LlamaModel
from ubp.embedding.models import DEFAULT
from ubp.embedding.tokens import Bilingual, WordPieces, pieces
from ubp.languages import language_of
from ubp.messages import QueryVector
from ubp.packs.docs import queries
from ubp.store import vectors
from ubp.store.connection import transaction

__all__ = ("RealModel",)


class RealModel:
    """The default model in this process, for what is in *languages*."""

    def __init__(self, models: Path, *languages: str) -> None:
        words = WordPieces(weights.tokenizer_file(models))
        self._tokens = Bilingual(words, japanese.pieces_file())
        path = library.ready(DEFAULT, models)
        adapter = Adapter(library.adapter(path), self._tokens.first)
        model = LlamaModel(path, "mean", DEFAULT.window, adapter, library.rows(path))
        self._context = model.context(1)
        self._languages = languages or ("en",)

    def pages(self, pages: Mapping[str, str]) -> apsw.Connection:
        """A database that holds *pages*, every section of them with its vectors."""
        db = with_pages(pages)
        self.embed(db)
        return db

    def embed(self, db: apsw.Connection) -> None:
        """Give every text that waits its vectors."""
        with transaction(db):
            model = vectors.aim(
                db,
                identity="real",
                name=DEFAULT.name,
                spec="{}",
                languages=self._languages,
            )
            waiting = vectors.waiting(db, model, 1_000)
            texts = queries.passages(db, [entry.row for entry in waiting])
            made = [
                (entry, self._vectors(texts[entry.row].head, texts[entry.row].body))
                for entry in waiting
            ]
            vectors.store(db, model.id, made)

    def query(self, db: apsw.Connection, text: str) -> QueryVector:
        """What the embedder would answer."""
        model = vectors.serving(db)
        assert model is not None
        values = self._vectors("", text)[0].tobytes()
        scale = DEFAULT.scale(language_of(text))
        return QueryVector(
            model.id, values, scale.unrelated, scale.related, scale.literal
        )

    def _vectors(self, head: str, body: str) -> np.ndarray:
        made: Sequence[Sequence[int]] = pieces(
            self._tokens.ids(head),
            self._tokens.ids(body),
            self._tokens.frame,
            DEFAULT.window,
        )
        return self._context.vectors(made)
