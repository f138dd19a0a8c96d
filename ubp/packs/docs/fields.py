"""Arguments and results that several docs tools share."""

from typing import Annotated

from msgspec import Meta

__all__ = ("SUMMARY", "Filepath", "Query", "Score", "Took")

SUMMARY = 500
"""Characters of a page's text that stand for it."""

Filepath = Annotated[
    str, Meta(description="Path of the page, relative to the docs folder, with .md.")
]
Query = Annotated[str, Meta(description="What to look for, in any language.")]
Score = Annotated[float, Meta(ge=0, le=1)]
Took = Annotated[int, Meta(ge=0, description="Milliseconds the call took.")]
