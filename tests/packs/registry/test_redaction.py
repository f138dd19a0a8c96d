from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubp.packs.registry.redaction import Redactor

SECRETS = [
    (
        "connection_string",
        "Use postgres://admin:s3cret@db.internal:5432/app now",
        "s3cret",
    ),
    ("connection_string", "Use postgresql+psycopg2://u:pw@db/app now", "u:pw"),
    ("connection_string", "Use mongodb+srv://u:pw@cluster0.internal/x now", "cluster0"),
    ("connection_string", "Use redis://:pw@cache:6379/0 now", "cache:6379"),
    ("connection_string", "Use amqp://guest:guest@mq:5672/ now", "mq:5672"),
    (
        "bearer_token",
        "Header: Bearer abcdefghijklmnopqrstuvwxyz012345 ok",
        "abcdefghij",
    ),
    ("api_key", "Use sk-abcdefghijklmnopqrstuvwx1234 now", "sk-abc"),
    ("api_key", "Use sk-proj-abcdefghijkl_mnopqrstuvwx1234 now", "sk-proj-abc"),
    ("api_key", "Use ghp_abcdefghijklmnopqrstuvwxyz0123456789 now", "ghp_abc"),
    ("api_key", "Use github_pat_11ABCDEFG0abcdefghijkl_mnopqrstu now", "github_pat_11"),
    ("api_key", "Use AKIAIOSFODNN7EXAMPLE now", "AKIAIOS"),
    ("api_key", "鍵はAKIAIOSFODNN7EXAMPLEです", "AKIAIOS"),
    ("api_key", "Use kp_0123456789abcdef0123456789abcdef now", "kp_0123"),
    ("api_key", "Use xoxb-123456789012-abcdefABCDEF now", "xoxb-1"),
    ("password", "Set password=hunter2secret now", "hunter2secret"),
    ("password", 'Set "password": "hunter2secret", now', "hunter2secret"),
    ("password", "Set DB_PASSWORD = hunter2secret now", "hunter2secret"),
    ("password", "Set api_secret: tops3cretvalue now", "tops3cretvalue"),
    ("password", "Set AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7 now", "wJalrXUtn"),
    ("password", "Send 'X-Api-Key: abc123def456' now", "abc123def456"),
    ("password", "Set clientSecret: abc123def456 now", "abc123def456"),
    ("password", 'Set password := "hunter2secret" now', "hunter2secret"),
    ("password", "Set 'password' => 'hunter2secret', now", "hunter2secret"),
    ("password", "パスワード：ひみつ123 です", "ひみつ123"),
    (
        "jwt",
        "Use eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4 now",
        "eyJzdWIi",
    ),
    (
        "private_key",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75\n-----END RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEA75",
    ),
    ("private_key", "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA75", "MIIEowIBAAKC"),
]
IDENTIFIERS = [
    ("email", "Write to jane.doe+x@example.co.jp today", "jane.doe"),
    ("email", "連絡先はjane@example.orgです", "jane@"),
    ("phone", "Call (555) 123-4567 today", "123-4567"),
    ("phone", "Call 555-123-4567 today", "123-4567"),
    ("phone", "Call +819012345678 today", "9012345678"),
    ("phone", "Call +81 90-1234-5678 today", "1234-5678"),
    ("phone", "Call 03-1234-5678 today", "1234-5678"),
    ("phone", "電話は090-1234-5678まで", "1234-5678"),
    ("phone", "Call 09012345678 today", "0901234"),
    ("ip", "Ping 203.0.113.42 today", "203.0.113.42"),
    ("filepath", "Open /home/jane/notes/secret.txt today", "jane"),
    ("filepath", "Open /Users/jane/notes/secret.txt today", "jane"),
    ("filepath", "Open C:\\Users\\jane\\notes\\secret.txt today", "jane"),
]
ORDINARY = [
    "",
    "Ordinary prose, version 1.2.3, at 10:30, costs 1,234.56.",
    "# Head\n\n- *list* of `code`\n\n| a | b |",
    "The token is a word; a secret is kept. 日本語の文。",
    "On 2026-01-02 at 03:04:05, 100-200-300, 1.2.3.4.5, 256.1.1.1.",
    "password: string, token: str, api_key=${API_KEY}, secret = os.environ['S']",
    "**Token:** see below. token = get_token() and secret=<your secret>",
    "max_tokens: 4096",
    "use anchor_spl::token::{Token, Transfer}; spl_token::transfer(token == spare)",
    "API_KEY=$(vault kv get key) and const token = await deploy(); token := read(file)",
    "Bearer tokens are short.",
]


def cleaned(text: str, *, identifiers: bool = True) -> tuple[str, dict[str, int]]:
    redactor = Redactor(identifiers=identifiers)
    result = redactor.text(text)
    return result, {found.type: found.count for found in redactor.redactions}


@pytest.mark.parametrize("identifiers", [True, False])
@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS)
def test_a_secret_is_always_redacted(
    kind: str, text: str, secret: str, identifiers: bool
) -> None:
    result, counts = cleaned(text, identifiers=identifiers)

    assert secret not in result
    assert f"[REDACTED:{kind}]" in result
    assert counts == {kind: 1}


@pytest.mark.parametrize(("kind", "text", "secret"), IDENTIFIERS)
def test_an_identifier_is_redacted_where_it_is_asked_for(
    kind: str, text: str, secret: str
) -> None:
    result, counts = cleaned(text)

    assert secret not in result
    assert counts == {kind: 1}
    assert cleaned(text, identifiers=False) == (text, {})


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert cleaned(text) == (text, {})


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Bearer abcdefghijklmnopqrstuvwxyz012345", "Bearer [REDACTED:bearer_token]"),
        ("Bearer kp_0123456789abcdef0123", "Bearer [REDACTED:api_key]"),
        ("password=hunter2secret", "password=[REDACTED:password]"),
        ("Token : abc next", "Token : [REDACTED:password] next"),
        ('{"token": "abc", "n": 1}', '{"token": "[REDACTED:password]", "n": 1}'),
        ("secret=postgres://u:pw@db/app", "secret=[REDACTED:connection_string]"),
        ("{password: hunter2}", "{password: [REDACTED:password]}"),
    ],
)
def test_what_surrounds_a_secret_is_kept(text: str, result: str) -> None:
    assert cleaned(text)[0] == result


def test_redactions_are_counted_by_type() -> None:
    result, counts = cleaned("a@example.org and b@example.org from 203.0.113.42")

    assert result.count("[REDACTED:email]") == 2
    assert counts == {"email": 2, "ip": 1}


def test_a_value_is_cleaned_all_the_way_down() -> None:
    redactor = Redactor(identifiers=True)
    value: dict[str, Any] = {
        "user": "ann",
        "password": "hunter2",
        "token": 12345,
        "deep": [{"to": "ann@example.org"}, {"secret": {"type": "string"}}],
        "n": 1,
        "ok": True,
        "sk-abcdefghijklmnopqrstuvwx1234": 1,
        "sk-abcdefghijklmnopqrstuvwx5678": 2,
    }

    assert redactor.value(value) == {
        "user": "ann",
        "password": "[REDACTED:password]",
        "token": "[REDACTED:password]",
        "deep": [{"to": "[REDACTED:email]"}, {"secret": {"type": "string"}}],
        "n": 1,
        "ok": True,
        "[REDACTED:api_key]": 1,
        "[REDACTED:api_key]'": 2,
    }


def test_names_of_secrets_are_known_with_what_they_are_for() -> None:
    redactor = Redactor(identifiers=False)

    cleaned = redactor.value(
        {"DB_PASSWORD": "hunter2", "x-api-key": "abc", "next_token": 5, "token": 5}
    )

    mark = "[REDACTED:password]"
    assert cleaned == {
        "DB_PASSWORD": mark,
        "x-api-key": mark,
        "next_token": 5,
        "token": mark,
    }


def test_a_secret_under_a_telling_name_keeps_its_kind() -> None:
    redactor = Redactor(identifiers=False)

    value = redactor.value({"token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789"})

    assert value == {"token": "[REDACTED:api_key]"}


@given(st.text())
def test_cleaning_again_finds_nothing_more(text: str) -> None:
    once, _ = cleaned(text)

    assert cleaned(once) == (once, {})
