"""The model of an embedding service, as the settings name it."""

from urllib.parse import urlsplit

from ubp import config
from ubp.config import EmbeddingSettings
from ubp.embedding.models import DEFAULT, Model
from ubp.errors import ConfigError, KeyMissing, shortened

__all__ = ("host_of", "key_for", "remote")

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_WINDOW = 32_000
"""Tokens such services take; whatever is longer, they cut themselves."""


def remote(settings: EmbeddingSettings) -> Model:
    """The model to ask for.

    Raises:
        ConfigError: The settings do not say which, or where.
    """
    name = settings.model.strip()
    if not name or name.casefold() == DEFAULT.name.casefold():
        raise ConfigError(
            "ubp.toml: embedding.model names no model of a service.",
            cause='With embedding.provider = "http" it is the name the service knows.',
            hint='Set it, for instance model = "voyage-3-lite".',
        )
    url = settings.url.strip()
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:  # brackets, or a port that is no number
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
        raise ConfigError(
            "ubp.toml: embedding.url is not an address that can be used.",
            cause="It must begin with https:// or http:// and hold no password.",
            hint='For instance url = "https://api.voyageai.com/v1/embeddings".',
        )
    if settings.api_key_env and parts.scheme == "http" and host not in _LOOPBACK:
        raise ConfigError(
            "ubp.toml: embedding.url would send the key where everybody can read it.",
            cause="It begins with http://, and is not on this machine.",
            hint='Use https://, or api_key_env = "" if the service wants no key.',
        )
    return Model(
        name=name,
        summary="of an embedding service",
        languages=("en", "ja"),
        licence="as the service says",
        dimension=settings.dimensions,
        window=_WINDOW,
        size=0,
        url=url,
        api_key_env=settings.api_key_env.strip(),
        unrelated=settings.unrelated or 0.0,
        related=settings.related or 0.0,
    )


def host_of(model: Model) -> str:
    """Where its texts are sent to."""
    return urlsplit(model.url).netloc


def key_for(model: Model) -> str:
    """The key of the service; empty where it wants none.

    Raises:
        KeyMissing: It wants one, and there is none.
        ConfigError: What is there cannot be one.
    """
    if not model.api_key_env:
        return ""
    key = config.secret(model.api_key_env)
    if not key:
        raise KeyMissing(shortened(model.api_key_env))
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            "The key of the embedding service cannot be sent.",
            cause=f"{shortened(model.api_key_env)} holds a line break or another "
            "character no header can carry.",
            hint="Set it to the key alone, on one line, where ubp is started.",
        )
    return key
