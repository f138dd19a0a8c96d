"""Every failure ubp raises on purpose.

    UbpError
    ├── CallerError             the caller can fix this and try again
    │   ├── InvalidArguments      invalid_arguments
    │   ├── UnknownTool           unknown_tool
    │   ├── PageNotFound          page_not_found
    │   ├── ResourceNotFound      resource_not_found
    │   ├── ResourceTooLarge      resource_too_large
    │   ├── TooManySubscriptions  too_many_subscriptions
    │   ├── ConfigError           config
    │   ├── ClientSettingsError   client_settings
    │   ├── LogMissing            log_missing
    │   └── ProjectBusy           project_busy
    └── ServiceError            nothing in the request is wrong
        ├── IndexNotReady         index_not_ready
        ├── DatabaseError         database
        │   ├── IndexDamaged        index_damaged
        │   └── NoRoom              no_room
        ├── Busy                  busy
        ├── ModelMissing          model_missing
        ├── ModelUnusable         model_unusable
        ├── DownloadFailed        download_failed
        ├── KeyMissing            key_missing
        ├── EmbeddingServiceFailed  embedding_service_failed
        ├── ActorStopped          actor_stopped
        └── InternalError         internal

A code is part of the public contract: clients branch on it, so it never changes
meaning and is never reused. Messages are for people and may be reworded freely.
Every error also carries a cause and a hint, the second and third line of what the
command line prints. What an error looks like on the wire is decided in
``protocol/replies.py``, by the family of the tool that raised it.
"""

from typing import ClassVar

__all__ = (
    "ActorStopped",
    "Busy",
    "CallerError",
    "ClientSettingsError",
    "ConfigError",
    "DatabaseError",
    "DownloadFailed",
    "EmbeddingServiceFailed",
    "IndexDamaged",
    "IndexNotReady",
    "InternalError",
    "InvalidArguments",
    "KeyMissing",
    "LogMissing",
    "ModelMissing",
    "ModelUnusable",
    "NoRoom",
    "PageNotFound",
    "ProjectBusy",
    "ResourceNotFound",
    "ResourceTooLarge",
    "ServiceError",
    "TooManySubscriptions",
    "UbpError",
    "UnknownTool",
    "innermost",
    "shortened",
)


class UbpError(Exception):
    """Base of every error raised on purpose; anything else is a bug."""

    code: ClassVar[str]
    category: ClassVar[str] = "internal"
    """The kind of failure, for families whose errors are told apart by that alone."""
    cause: str = "The request could not be served."
    hint: str = "Run `ubp doctor` to check the environment."

    def __init__(
        self, message: str, *, cause: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.cause = cause or type(self).cause
        self.hint = hint or type(self).hint


class CallerError(UbpError):
    """The request was understood but cannot be honoured as written."""

    category = "invalid-argument"


class ServiceError(UbpError):
    """The request was fine; the service could not serve it."""


class InvalidArguments(CallerError):
    """A tool was called with arguments that do not fit its schema."""

    code = "invalid_arguments"
    cause = "The arguments do not fit the tool's schema."
    hint = "Run `ubp tools` to see every tool with its parameters."


class UnknownTool(CallerError):
    """No enabled pack has a tool of that name."""

    code = "unknown_tool"
    cause = "No enabled pack has a tool of that name."
    hint = "Run `ubp tools` to see the tools; `packs` in ubp.toml narrows them."

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {shortened(name)}")


class PageNotFound(CallerError):
    """The page named is not in the index."""

    code = "page_not_found"
    category = "not-found"
    cause = "No indexed page has that path."
    hint = "Run `ubp list-pages` to see every page, or `ubp index` to read new files."

    def __init__(self, ident: str) -> None:
        super().__init__(f"Page not found: {shortened(ident)}")


class ResourceNotFound(CallerError):
    """There is nothing to read at this URI, or nothing that may be read."""

    code = "resource_not_found"
    category = "not-found"
    cause = "No indexed page has that URI, or its file is no longer there."
    hint = "Use a URI from resources/list; run `ubp index` if the file is new."

    def __init__(self, uri: str) -> None:
        super().__init__("Resource not found")
        self.uri = shortened(uri, 16_384)


class ResourceTooLarge(CallerError):
    """The file is larger than what is sent in one piece."""

    code = "resource_too_large"
    cause = "It would fill the memory of whoever asked, and ours."
    hint = "Search it instead: what is found says where it stands."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"The file is too large to be read as a resource: it has {size:,} bytes,"
            f" and at most {limit:,} are sent."
        )


class TooManySubscriptions(CallerError):
    """The client follows as much as it may."""

    code = "too_many_subscriptions"
    cause = "Every page that is followed is looked at twice a second."
    hint = "Unsubscribe from some resources first."

    def __init__(self, limit: int) -> None:
        super().__init__(f"At most {limit:,} resources can be subscribed to.")


class ConfigError(CallerError):
    """The settings file cannot be used; the message names the key."""

    code = "config"
    cause = "The settings file ubp.toml cannot be used."
    hint = "Correct it, or delete it to use the defaults; see docs/configuration.md."


class ClientSettingsError(CallerError):
    """A client's settings cannot be read or changed; they are as before."""

    code = "client_settings"
    cause = "The settings of the client cannot be used."
    hint = "Run the command again with --print, and add what it shows yourself."


class LogMissing(CallerError):
    """There is no log of a server to show."""

    code = "log_missing"
    category = "not-found"
    cause = "No server has written a log in this project."
    hint = "Run `ubp doctor`, which checks the project's folder and settings."


class ProjectBusy(CallerError):
    """Another process serves this project."""

    code = "project_busy"
    hint = "Run `ubp serve --shared` to serve beside it, or stop that process."

    def __init__(self, pid: str) -> None:
        super().__init__(
            "A server is already running on this project.",
            cause=f"Process {pid} holds .ubp/serve.lock.",
        )


class IndexNotReady(ServiceError):
    """There is no database yet, so there is nothing to ask."""

    code = "index_not_ready"
    cause = "This project has never been indexed."
    hint = "Run `ubp index` (or `ubp init`) first."

    def __init__(self) -> None:
        super().__init__(
            "The index is not ready yet; ubp_fulltext_search answers as soon as it is."
        )


class DatabaseError(ServiceError):
    """SQLite refused; the index can always be rebuilt from the files."""

    code = "database"
    cause = "SQLite could not use .ubp/index.db."
    hint = "Delete .ubp/index.db and run `ubp index`: it is rebuilt from your files."


class IndexDamaged(DatabaseError):
    """The index is not what SQLite wrote; it is set aside and made again."""

    code = "index_damaged"
    cause = "Something else wrote to .ubp/index.db, or the disk lost some of it."
    hint = "Run `ubp index`: it sets the damaged file aside and builds a new one."


class NoRoom(DatabaseError):
    """The index cannot be written at the moment; what is in it can be read."""

    code = "no_room"
    cause = "The disk is full, or .ubp cannot be written to."
    hint = "Make room; indexing then goes on where it stopped."


class Busy(ServiceError):
    """No answer within the caller's deadline."""

    code = "busy"
    cause = "The service had more to do than it could finish in time."
    hint = "Try again in a moment."


class ModelMissing(ServiceError):
    """The embedding model's file is not on this machine."""

    code = "model_missing"
    cause = "Its file is not on this machine yet."
    hint = "Run `ubp model pull` to fetch it; until then search is by words."

    def __init__(
        self, name: str, *, cause: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(
            f"The embedding model {shortened(name)} is not there.",
            cause=cause,
            hint=hint,
        )


class ModelUnusable(ServiceError):
    """The embedding model's file is there, and is not what it should be."""

    code = "model_unusable"
    cause = "Its file is damaged, or is not a GGUF file of an embedding model."
    hint = "Choose another with `ubp model use`; `ubp model list` shows them."


class DownloadFailed(ServiceError):
    """A model could not be fetched; what has arrived is kept where it is of use."""

    code = "download_failed"
    cause = "The network, or the other side of it, did not play along."
    hint = "Try again: a download goes on where it stopped."


class KeyMissing(ServiceError):
    """The embedding service wants a key, and there is none."""

    code = "key_missing"

    def __init__(self, variable: str) -> None:
        super().__init__(
            "The embedding service wants a key, and there is none.",
            cause=f"The environment variable {variable} is not set.",
            hint="Set it where ubp is started; until then search is by words.",
        )


class EmbeddingServiceFailed(ServiceError):
    """The embedding service did not give what it was asked for."""

    code = "embedding_service_failed"
    hint = "Until it does, search is by words; see embedding.url and embedding.model."

    def __init__(self, said: str) -> None:
        self.said = said
        super().__init__(
            f"The embedding service gave no vectors: {said.rstrip('.')}.",
            cause="It refused, could not be reached, or asked to come back later.",
        )


class ActorStopped(ServiceError):
    """The part of the service that should have answered has ended."""

    code = "actor_stopped"
    cause = "A part of the service ended before it answered."
    hint = "Try again; if it persists, the log on standard error says why."


class InternalError(ServiceError):
    """A bug of ours; the details are in the log, never in the message."""

    code = "internal"
    cause = "This is a fault in ubp, not in your request."
    hint = "Run again with --log-level debug and report what the log says."

    def __init__(self) -> None:
        super().__init__("Internal error.")


def innermost(error: BaseException) -> BaseException:
    """What went wrong first, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        ours = error.subgroup(UbpError)
        error = (ours or error).exceptions[0]
    return error


def shortened(text: str, limit: int = 200) -> str:
    """*text*, cut so that an error never repeats megabytes to its caller."""
    return text if len(text) <= limit else f"{text[:limit]}…"
