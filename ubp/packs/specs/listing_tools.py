"""``list_languages`` and ``list_versions``: what has been ingested."""

from msgspec import UNSET, Struct, UnsetType

from ubp.packs.specs import queries
from ubp.packs.specs.fields import LanguageName
from ubp.packs.specs.languages import language, names, notes
from ubp.toolkit import ArrayResult, Context, Effect, phase, tool

__all__ = ("list_languages", "list_versions")


class ListLanguages(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List languages whose specification can be cited.

    With the ids of their documents.
    """


class IngestedLanguage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A language of which there is at least one snapshot."""

    language: str
    docs: list[str]
    notes: str | UnsetType = UNSET


class IngestedLanguages(ArrayResult, frozen=True, kw_only=True):
    """The languages, by name."""

    result: list[IngestedLanguage]


@tool("list_languages", Effect.READ, slow_ms=50)
async def list_languages(ctx: Context, args: ListLanguages) -> IngestedLanguages:
    del args
    settings = ctx.project.settings
    known = names(settings)
    with phase("query"):
        found = await ctx.db.run(queries.documents)
    return IngestedLanguages(
        result=[
            IngestedLanguage(
                language=each, docs=docs, notes=notes(settings, each) or UNSET
            )
            for each, docs in found.items()
            if each in known
        ]
    )


class ListVersions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """List snapshots of a specification, newest first."""

    language: LanguageName


class IngestedVersion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A snapshot."""

    version: str
    fetched_at: str
    source_url: str
    doc: str


class IngestedVersions(ArrayResult, frozen=True, kw_only=True):
    """The snapshots, the newest first."""

    result: list[IngestedVersion]


@tool("list_versions", Effect.READ, slow_ms=50)
async def list_versions(ctx: Context, args: ListVersions) -> IngestedVersions:
    spoken = language(ctx.project.settings, args.language)
    with phase("query"):
        found = await ctx.db.run(queries.snapshots, spoken.language)
    return IngestedVersions(
        result=[
            IngestedVersion(
                version=each.version,
                fetched_at=each.fetched_at,
                source_url=each.source_url,
                doc=each.doc,
            )
            for each in found
        ]
    )
