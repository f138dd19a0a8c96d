"""Vectors from an embedding service: what is asked, tried again, and told."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from queue import SimpleQueue

import httpx2
import pytest
from embedding_service import KEY, Service, embedding_service, says

from ubp.actors import embedding_child, meaning
from ubp.config import EmbeddingSettings
from ubp.embedding import library
from ubp.embedding.models import Model, chosen
from ubp.embedding.remote import RemoteEmbedder, Role, TextsRefused
from ubp.embedding.remote_choice import key_for
from ubp.errors import ConfigError, EmbeddingServiceFailed, KeyMissing


@pytest.fixture
def service() -> Iterator[Service]:
    with embedding_service() as running:
        yield running


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedder(service: Service, clock: Clock) -> Iterator[RemoteEmbedder]:
    made = RemoteEmbedder(service.url, "voyage-x", KEY, sleep=clock.sleep, clock=clock)
    yield made
    made.close()


def test_roles_are_kept_apart_and_the_key_is_in_the_header(
    service: Service, embedder: RemoteEmbedder
) -> None:
    embedder.vectors(["a bird"], "query")
    made = embedder.vectors(["a bird", "a kettle"], "document")

    assert service.texts == [("query", 1), ("document", 2)]
    headers, body = service.seen[0]
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["input"]) == ("voyage-x", ["a bird"])
    assert made.shape == (2, 5)
    assert made[0].argmax() == 0, "in the order of the texts, whatever the service's"
    assert made[1].argmax() == 1


def test_many_texts_go_in_batches_with_a_pause(
    service: Service, embedder: RemoteEmbedder, clock: Clock
) -> None:
    assert len(embedder.vectors(["x"] * 300, "document")) == 300

    assert service.texts == [("document", 128), ("document", 128), ("document", 44)]
    assert clock.slept == [0.1, 0.1]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_three_times(
    service: Service, embedder: RemoteEmbedder, clock: Clock, status: int
) -> None:
    service.script.extend([says(status), says(status)])

    assert len(embedder.vectors(["x"], "query")) == 1

    assert clock.slept == [1.0, 2.0]


def test_after_the_third_time_the_reason_is_told(
    service: Service, embedder: RemoteEmbedder, clock: Clock
) -> None:
    service.otherwise = says(429, {"detail": f"slow down, {KEY}"})

    with pytest.raises(EmbeddingServiceFailed) as caught:
        embedder.vectors(["x"], "query")

    assert len(service.seen) == 3
    assert clock.slept == [1.0, 2.0]
    assert "HTTP 429: slow down" in caught.value.message
    assert KEY not in caught.value.message


def test_a_service_that_cannot_be_reached_is_tried_three_times(clock: Clock) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    lost = RemoteEmbedder(url, "m", "", sleep=clock.sleep, clock=clock)

    with pytest.raises(EmbeddingServiceFailed):
        lost.vectors(["x"], "document")

    lost.close()
    assert clock.slept == [1.0, 2.0]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_query_is_told_at_once(
    service: Service, embedder: RemoteEmbedder, clock: Clock, status: int
) -> None:
    service.script.append(says(status, {"error": {"message": "too long"}}))

    with pytest.raises(TextsRefused, match="too long"):
        embedder.vectors(["x"], "query")

    assert (len(service.seen), clock.slept) == (1, [])


def test_refused_documents_are_at_fault_only_if_others_are_not_refused(
    service: Service, embedder: RemoteEmbedder
) -> None:
    service.script.append(says(400, {"detail": "empty"}))
    with pytest.raises(TextsRefused):
        embedder.vectors(["x"], "document")

    service.otherwise = says(400, {"detail": "no such model"})
    with pytest.raises(EmbeddingServiceFailed, match="no such model"):
        embedder.vectors(["x"], "document")


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_a_wrong_key_or_address_is_not_the_fault_of_a_text(
    service: Service, embedder: RemoteEmbedder, clock: Clock, status: int
) -> None:
    service.otherwise = says(status, {"detail": "no"}, Location="http://else.where/")

    with pytest.raises(EmbeddingServiceFailed):
        embedder.vectors(["x"], "document")

    assert (len(service.seen), clock.slept) == (1, [])


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("5", 5.0), ("3600", 30.0), ("0", 1.0), ("soon", 1.0), ("-3", 1.0)],
)
def test_a_service_may_ask_for_a_pause_within_reason(
    service: Service, embedder: RemoteEmbedder, clock: Clock, asked: str, waited: float
) -> None:
    service.script.append(says(429, Retry_After=asked))

    embedder.vectors(["x"], "document")

    assert clock.slept == [waited]


def test_a_pause_may_be_a_date(
    service: Service, embedder: RemoteEmbedder, clock: Clock
) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    service.script.append(says(503, Retry_After=later))

    embedder.vectors(["x"], "document")

    assert clock.slept == [30.0]


def test_a_query_does_not_wait_longer_than_its_caller_would(
    service: Service, embedder: RemoteEmbedder, clock: Clock
) -> None:
    service.otherwise = says(429, Retry_After="60")

    with pytest.raises(EmbeddingServiceFailed):
        embedder.vectors(["x"], "query")

    assert sum(clock.slept) <= 7


@pytest.mark.parametrize(
    "value",
    [
        b"not JSON",
        {"data": []},
        {"data": [{"embedding": [], "index": 0}]},
        {"data": [{"embedding": [1, 2], "index": 0}] * 2},
        {"data": [{"embedding": ["x"], "index": 0}]},
        {"vectors": [[1]]},
        [],
    ],
)
def test_what_is_no_embedding_is_a_failure_of_the_service(
    service: Service, embedder: RemoteEmbedder, value: object
) -> None:
    service.otherwise = says(200, value)

    with pytest.raises(EmbeddingServiceFailed):
        embedder.vectors(["x"], "query")


@pytest.mark.parametrize("role", ["query", "document"])
def test_an_answer_that_cannot_be_unpacked_is_a_failure_of_the_service(
    service: Service, embedder: RemoteEmbedder, role: Role
) -> None:
    service.otherwise = says(200, b"not gzip", Content_Encoding="gzip")

    with pytest.raises(EmbeddingServiceFailed, match="DecodingError"):
        embedder.vectors(["x"], role)


def test_a_vector_without_a_direction_is_no_vector(
    service: Service, embedder: RemoteEmbedder
) -> None:
    data = [{"embedding": [1, 0]}, {"embedding": [0, 0]}]
    service.script.append(says(200, {"data": data}))

    with pytest.raises(TextsRefused, match="without a direction"):
        embedder.vectors(["x", "y"], "document")


def test_a_silent_service_is_given_up_before_its_caller_is(
    embedder: RemoteEmbedder, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def hang(*_: object, timeout: float, **__: object) -> None:
        attempts.append(timeout)
        clock.now += timeout
        raise httpx2.ReadTimeout("silence")

    monkeypatch.setattr(embedder._client, "post", hang)

    with pytest.raises(EmbeddingServiceFailed, match="silence"):
        embedder.vectors(["x"], "query")

    assert len(attempts) == 2
    assert clock.now < meaning._WITHIN


def test_a_key_that_cannot_be_sent_is_not_shown(service: Service, clock: Clock) -> None:
    broken = RemoteEmbedder(
        service.url, "m", "first\nsecond", sleep=clock.sleep, clock=clock
    )

    with pytest.raises(EmbeddingServiceFailed) as caught:
        broken.vectors(["x"], "document")

    broken.close()
    assert "first" not in caught.value.message
    assert (service.seen, clock.slept) == ([], [])


def test_a_dimension_can_be_asked_for_and_counts(service: Service) -> None:
    five = RemoteEmbedder(service.url, "m", "", dimension=5)
    six = RemoteEmbedder(service.url, "m", "", dimension=6)

    assert five.vectors(["x"], "query").shape == (1, 5)
    with pytest.raises(EmbeddingServiceFailed):
        six.vectors(["x"], "query")

    assert [body["output_dimension"] for _, body in service.seen] == [5, 6]
    assert "Authorization" not in service.seen[0][0]
    five.close()
    six.close()


# -- the settings ----------------------------------------------------------------------


def settings(**given: object) -> EmbeddingSettings:
    return EmbeddingSettings(**{"provider": "http", "model": "voyage-3-lite", **given})  # type: ignore[arg-type]


def remote(**given: object) -> Model:
    model = chosen(settings(**given), Path())
    assert model is not None
    return model


@pytest.mark.parametrize(
    "given",
    [
        {"model": "all-MiniLM-L6-v2"},
        {"model": " "},
        {"url": ""},
        {"url": "ftp://a.example/"},
        {"url": "https://"},
        {"url": "https://a.example:port/"},
        {"url": "https://user:secret@a.example/"},
        {"url": "http://a.example/v1"},
        {"url": "https://[x/"},
    ],
)
def test_settings_that_name_no_service_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        remote(**given)


def test_a_service_without_a_key_may_be_anywhere() -> None:
    model = remote(url="http://nas.example/v1", api_key_env="", languages=["en"])

    assert key_for(model) == ""
    assert model.languages == ("en",)
    assert chosen(settings(model="none"), Path()) is None


def test_a_key_that_is_not_set_is_missed_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = remote(api_key_env="MY_KEY")
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(KeyMissing) as caught:
        key_for(model)
    assert "MY_KEY" in caught.value.cause
    assert "MY_KEY" in (library.problem(settings(api_key_env="MY_KEY"), Path()) or "")

    monkeypatch.setenv("MY_KEY", KEY)

    assert key_for(model) == KEY
    assert library.problem(settings(api_key_env="MY_KEY"), Path()) is None


@pytest.mark.parametrize("key", ["a\nb", "a\x07b", "clé", "鍵", "a\x7fb"])
def test_a_key_no_header_can_carry_is_told_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)

    with pytest.raises(ConfigError) as caught:
        key_for(remote(api_key_env="MY_KEY"))

    assert "MY_KEY" in caught.value.cause
    told = library.problem(settings(api_key_env="MY_KEY"), Path()) or ""
    assert "cannot be sent" in told
    assert key not in told


# -- the process that asks it ----------------------------------------------------------


class Failing:
    """A service whose client has a fault nobody thought of."""

    def vectors(self, *_: object) -> None:
        raise ValueError("/home/somebody/secret")


def test_a_fault_of_ours_is_not_that_of_a_text() -> None:
    request = embedding_child.Embed(7, (embedding_child.Text("", "x"),), is_query=False)

    answer = embedding_child._by_service(Failing(), "", request)  # type: ignore[arg-type]

    assert isinstance(answer, embedding_child.Unavailable)
    assert (answer.number, answer.said) == (7, "ValueError")
    assert "in vectors" in answer.fault


class EnoughError(Exception):
    """The thread has answered."""


def test_no_traceback_reaches_whoever_asked() -> None:
    answers: list[embedding_child.Answer] = []
    requests: SimpleQueue[embedding_child.Embed] = SimpleQueue()
    requests.put(embedding_child.Embed(7, (), is_query=True))

    def take(answer: embedding_child.Answer) -> None:
        answers.append(answer)
        raise EnoughError

    def fail(_: embedding_child.Embed) -> embedding_child.Answer:
        raise ValueError("/home/somebody/secret")

    with pytest.raises(EnoughError):
        embedding_child._run(fail, take, requests, 0)

    [answer] = answers
    assert isinstance(answer, embedding_child.Refused)
    assert answer.reason == "The model failed over this: ValueError."
    # Where, for the log; not what, which may hold a text or a key.
    assert "in fail" in answer.fault
    assert "ValueError: " not in answer.fault


def test_vectors_belong_to_the_service_the_model_and_what_is_put_before_a_text() -> (
    None
):
    changes: list[dict[str, object]] = [
        {},
        {"url": "https://other.example/"},
        {"model": "voyage-3"},
        {"dimensions": 256},
        {"query_prefix": "q: "},
    ]

    identities = {library.identity(remote(**each), Path()) for each in changes}

    assert len(identities) == len(changes)
