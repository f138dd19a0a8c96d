"""Arguments and results that several docs tools share."""

from typing import Annotated

from msgspec import Meta

__all__ = ("SUMMARY", "Filepath", "Query", "Score", "Took")

SUMMARY = 500
"""Characters of a page's text that stand for it."""

Filepath = Annotated[str, Meta(description="In the docs folder")]
Query = Annotated[str, Meta(description="Any language")]
Score = Annotated[float, Meta(ge=0, le=1)]
Took = Annotated[int, Meta(ge=0, description="Milliseconds the call took.")]
