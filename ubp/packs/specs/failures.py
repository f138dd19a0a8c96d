"""What can go wrong with a specification."""

from ubp.errors import CallerError, ServiceError, shortened

__all__ = ("NotIngested", "SectionNotFound", "SourceFailed", "UnknownVersion")


class NotIngested(CallerError):
    """Nothing of the language has been ingested."""

    code = "specs.not_ingested"
    cause = "Specifications are fetched once, by a command, and then kept."

    def __init__(self, language: str, doc: str = "") -> None:
        which = f"{language} ({shortened(doc)})" if doc else language
        super().__init__(
            f"No specification of {which} is indexed; "
            f"run `ubp spec ingest {language}`.",
            hint=f"Run `ubp spec ingest {language}`.",
        )


class UnknownVersion(CallerError):
    """There is no snapshot of that version."""

    code = "specs.unknown_version"
    cause = "No snapshot of that version has been made."

    def __init__(self, language: str, version: str, known: list[str]) -> None:
        super().__init__(
            f"{language} has no version {shortened(version)!r}; "
            f"it has {', '.join(known)}.",
            hint="Use one of these, or `latest`.",
        )


class SectionNotFound(CallerError):
    """The snapshot has no section of that id."""

    code = "specs.section_not_found"
    cause = "No section of the snapshot has that id."
    hint = "Use a `section_id` from `search_spec` or `build_learning_plan`."

    def __init__(self, language: str, version: str, section_id: str) -> None:
        super().__init__(
            f"Section not found: {language}/{shortened(version)}/"
            f"{shortened(section_id)}"
        )


class SourceFailed(ServiceError):
    """It cannot be said which pages the document has."""

    code = "specs.source_failed"
    cause = "What lists the pages of the document could not be used."
    hint = (
        "Try again later, or give a copy with --from; what was stored is still served."
    )
