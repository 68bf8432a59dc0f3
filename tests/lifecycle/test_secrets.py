"""Likely secrets are found by shape; ordinary talk, hashes and ids are left alone. All samples are made up from repeated parts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ids import IdSource
from recollect.lifecycle.secrets import entropy, luhn, redacted, redacted_json, secrets

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ"
BODY = (LETTERS * 4)[:36]
JWT = f"eyJ{LETTERS}.eyJ{LETTERS}.{LETTERS}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{LETTERS}\n{LETTERS}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("what", "secret"),
    [
        ("private key", PEM),
        ("JSON web token", JWT),
        ("AWS access key", "AKIA" + "ABCDEFGH234567AB"),
        ("GitHub token", "ghp_" + BODY),
        ("GitHub token", "github_pat_" + BODY),
        ("GitLab token", "glpat-" + BODY[:20]),
        ("Anthropic key", "sk-ant-" + BODY),
        ("OpenAI key", "sk-proj-" + BODY),
        ("Stripe key", "sk_live_" + BODY[:24]),
        ("Google API key", "AIza" + BODY[:35]),
        ("Slack token", "xoxb-" + "123456789012-" + BODY[:24]),
        ("Hugging Face token", "hf_" + BODY[:34]),
        ("npm token", "npm_" + BODY),
        ("PyPI token", "pypi-" + BODY * 2),
        ("SendGrid key", "SG." + BODY[:22] + "." + BODY),
        ("DigitalOcean token", "dop_v1_" + "0123456789abcdef" * 4),
        ("Telegram bot token", "123456789:" + BODY[:35]),
        ("card number", "4111 1111 1111 1111"),
        ("card number", "5500-0000-0000-0004"),
        ("random token", LETTERS),
    ],
)
def test_known_shapes_are_found_wherever_they_stand(what: str, secret: str) -> None:
    for text in (secret, f"remember this: {secret}", f"({secret})", f"it was {secret}, I think"):
        (found,) = secrets(text)
        assert (found.what, text[found.start : found.end]) == (what, secret)
        assert secret not in redacted(text)
        assert f"[redacted {what}]" in redacted(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ("DB_PASSWORD='correct horse'", "'correct horse'"),
        ("my password is hunter2", "hunter2"),
        ("password: s3cr3t!", "s3cr3t!"),
        ('{"api_key": "abcd-efgh-1"}', '"abcd-efgh-1"'),
        ("client_secret = qwertzuiop", "qwertzuiop"),
        ("postgres://anna:hunter2@db.example/shop", "hunter2"),
        ("Authorization: Bearer abcdefgh.ijklmnop", "abcdefgh.ijklmnop"),
    ],
)
def test_a_secret_that_is_called_one_is_found(text: str, secret: str) -> None:
    assert [text[found.start : found.end] for found in secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "Caroline adopted a grey cat, Oscar",
        "the password is wrong",
        "my secret is that I like rainy days",
        "password=<your password>",
        "password=${DB_PASSWORD}",
        "api_key=changeme",
        "commit 9adf1f5c0a6b4e3d2c1b0a9f8e7d6c5b4a392817 fixed it",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "call me at +47 22 33 44 55 or 004722334455",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "https://example.org/a/very/long/path/with-many-words-in-it/and-more",
        "TheQuickBrownFoxJumpsOverTheLazyDog",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "version 2026.05.08.1234567890123",
        "a_function_name_that_is_quite_long_indeed_2",
        "donaudampfschifffahrtsgesellschaft",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert secrets(text) == []
    assert redacted(text) == text


def test_our_own_ids_are_no_secrets() -> None:
    for id in IdSource().take(100, 1_750_000_000_000_000):
        assert secrets(f"see {id}") == []


def test_luhn_by_hand() -> None:
    # 7992739871 with check digit 3: doubled from the right 1→2 7→14→5 9 8→16→7 3 7→14→5 2 9→18→9 9 7→14→5, and 3
    assert luhn("79927398713")
    assert not luhn("79927398710")


def test_entropy_by_hand() -> None:
    assert entropy("aabb") == 1.0
    assert entropy("abcd") == 2.0
    assert entropy("aaaa") == 0.0


def test_a_finding_does_not_repeat_the_secret() -> None:
    (found,) = secrets(f"token ghp_{BODY}")
    assert found.hint == "ghp_…"


def test_redaction_reaches_into_json() -> None:
    value = {"note": f"key sk-ant-{BODY}", "list": ["password=hunter2", 3, None, {"ghp_" + BODY: True}]}
    assert redacted_json(value) == {
        "note": "key [redacted Anthropic key]",
        "list": ["password=[redacted password]", 3, None, {"[redacted GitHub token]": True}],
    }


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize("piece", ["a-", "-----BEGIN ", "eyJ.", "4 ", "password", "x://a:", "Aa1", "bearer "])
def test_no_text_takes_long(piece: str) -> None:
    """Ten times the text costs about ten times as much, not a hundred."""

    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        begun = time.process_time()
        secrets(text)
        return time.process_time() - begun

    cost(1000)
    assert cost(200_000) < 60 * max(cost(20_000), 0.01)
