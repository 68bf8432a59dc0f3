"""Likely secrets are found by shape; ordinary talk, hashes and ids are left alone. All samples are made up from repeated parts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.ids import IdSource
from thinkback.lifecycle.secrets.detect import entropy, json_secrets, luhn, redacted, redacted_json, secrets

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ"
BODY = (LETTERS * 4)[:36]
HEX = "9f86d081884c7d659a2feaa0c55ad015"
JWT = f"eyJ{LETTERS}.eyJ{LETTERS}.{LETTERS}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{LETTERS}\n{LETTERS}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("what", "secret"),
    [
        ("private key", PEM),
        ("JSON web token", JWT),
        ("AWS access key", "AKIA" + "ABCDEFGH234567AB"),
        ("GitHub token", "ghp_" + BODY),
        ("AWS access key", "ABSK" + BODY * 3 + "="),
        ("GitHub token", "github_pat_" + BODY[:22] + "_" + (BODY * 2)[:59]),
        ("GitHub token", f"ghs_123456_{JWT}"),
        ("GitLab token", "glpat-" + BODY[:20]),
        ("GitLab token", "glpat-" + "aBcDeFgHiJkLmNoPqRsT"),
        ("GitLab token", "glpat-" + BODY[:27] + ".01.0a1b2c3d4"),
        ("GitLab token", "gloas-" + HEX * 2),
        ("GitLab token", "glagent-" + BODY),
        ("Anthropic key", "sk-ant-" + BODY),
        ("Anthropic key", "sk-ant-api03-" + BODY * 2 + "_-AA"),
        ("OpenAI key", "sk-svcacct-" + BODY + "T3BlbkFJ" + BODY),
        ("OpenAI key", "sk-proj-" + BODY),
        ("OpenAI key", "sk-" + BODY),
        ("OpenAI key", "sk-or-v1-" + HEX * 2),
        ("Stripe key", "sk_live_" + BODY[:24]),
        ("Stripe key", "rk_live_" + BODY * 3),
        ("Stripe key", "sk_org_live_" + BODY),
        ("Stripe key", "whsec_" + BODY[:24]),
        ("Stripe key", "whsec_" + BODY[:20] + "+/" + BODY[:10]),
        ("Google API key", "AIza" + BODY[:35]),
        ("Google API key", "AQ.Ab8" + BODY + "_-" + BODY[:8]),
        ("Google OAuth secret", "GOCSPX-" + BODY[:28]),
        ("Google OAuth token", "ya29." + BODY),
        ("Slack token", "xoxb-" + "123456789012-" + BODY[:24]),
        ("Slack token", "xoxe.xoxp-1-" + BODY * 4),
        ("Slack token", "xoxc-" + "1234567890-" * 3 + HEX * 2),
        ("Slack token", "xoxd-" + BODY + "%2F" + BODY + "%3D"),
        ("Azure key", (BODY * 3)[:74] + "+/" + "+ASt" + "aB3dEg=="),
        ("Azure key", "aB38Q~" + BODY[:30] + "~.-_"),
        ("Hugging Face token", "hf_" + BODY[:34]),
        ("private key", "AGE-SECRET-KEY-1" + ("QPZRY9X8GF2TVDW0" * 4)[:58]),
        ("npm token", "npm_" + BODY),
        ("PyPI token", "pypi-" + BODY * 2),
        ("SendGrid key", "SG." + BODY[:22] + "." + BODY),
        ("DigitalOcean token", "dop_v1_" + "0123456789abcdef" * 4),
        ("Telegram bot token", "123456789:" + BODY[:35]),
        ("card number", "4111 1111 1111 1111"),
        ("card number", "5500-0000-0000-0004"),
        ("card number", "5500–0000–0000–0004"),
        ("card number", "4111\u202f1111\u202f1111\u202f1111"),
        ("random token", LETTERS),
    ],
)
def test_known_shapes_are_found_wherever_they_stand(what: str, secret: str) -> None:
    for text in (secret, f"remember this: {secret}", f"({secret})", f"it was {secret}, I think"):
        (found,) = secrets(text)
        assert (found.what, text[found.start : found.end]) == (what, secret)
        assert secret not in redacted(text)
        assert f"[redacted {what}]" in redacted(text)


ENCRYPTED_PEM = PEM.replace(
    "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n", 1
)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        # named by a variable, a setting, a header
        ("password=hunter2", "hunter2"),
        ("PASSWORD = hunter2", "hunter2"),
        ("MY_DB_PASSWORD=hunter2!", "hunter2!"),
        ("export PROD_EU_MY_DB_PASSWORD=hunter2!", "hunter2!"),
        ("DB_PASSWORD='correct horse'", "correct horse"),
        ("dbPassword = 'correct horse'", "correct horse"),
        ("password: str = 'my.pass.word'", "my.pass.word"),
        ('config["password"] = "swordfish"', "swordfish"),
        (r'password="with \" inside"', r"with \" inside"),
        (f"AWS_SECRET_ACCESS_KEY={LETTERS}/{LETTERS[:7]}", f"{LETTERS}/{LETTERS[:7]}"),
        (f"aws_secret_access_key = {LETTERS}/{LETTERS[:7]}", f"{LETTERS}/{LETTERS[:7]}"),
        ("SECRET_KEY='django-insecure-4f$k'", "django-insecure-4f$k"),
        ("SECRET_KEY_BASE=swordfish", "swordfish"),
        ("client_secret = qwertzuiop", "qwertzuiop"),
        ("x-api-key: abcd1234efgh5678", "abcd1234efgh5678"),
        (f"Server=db;AccountKey={LETTERS}/{LETTERS}==;Name=x", f"{LETTERS}/{LETTERS}=="),
        ("Authorization: Bearer abcdefgh.ijklmnop", "abcdefgh.ijklmnop"),
        ("Authorization: Basic YW5uYTpodW50ZXIy", "YW5uYTpodW50ZXIy"),
        ("password=" + "hunter2!" * 100, "hunter2!" * 100),
        # in JSON
        ('{"api_key": "abcd-efgh-1"}', "abcd-efgh-1"),
        ('{"password": "swordfish"}', "swordfish"),
        (r"{\"password\": \"swordfish\"}", "swordfish"),
        ("{'token': 'abcd1234efgh5678ijkl'}", "abcd1234efgh5678ijkl"),
        ('{"token": "abcd1234efgh5678ijkl"}', "abcd1234efgh5678ijkl"),
        # told in prose
        ("my password is hunter2", "hunter2"),
        ("my password's hunter2!", "hunter2!"),
        ("password: s3cr3t!", "s3cr3t!"),
        ("**Password:** s3cr3t!", "s3cr3t!"),
        ("secret: s3cr3t!", "s3cr3t!"),
        ("The Wifi Password is Tr0ub4dor&3, they said", "Tr0ub4dor&3"),
        (f"the api key is {HEX}", HEX),
        (f"API token: {HEX}", HEX),
        (f"my token is {HEX}{HEX}", HEX + HEX),
        (f"the secret is {HEX}", HEX),
        (f"use the key {HEX}", HEX),
        ("my api key is 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
        # in a URL
        ("https://user:pass@host", "pass"),
        ("postgres://anna:hunter2@db.example/shop", "hunter2"),
        ("postgres://anna:p@ss@db.example/shop", "p@ss"),
        ("redis://:hunter2@cache:6379/0", "hunter2"),
        ("curl -s -u anna:hunter2 https://example.org", "hunter2"),
        (f"https://a.blob.core.windows.net/c?sp=r&sig={BODY}aB3dEfg%3D", f"{BODY}aB3dEfg%3D"),
        # cards among other numbers
        ("card 4111 1111 1111 1111 12/26 cvv 123", "4111 1111 1111 1111"),
        ("4111 1111 1111 1111 123", "4111 1111 1111 1111"),
        ("2026 4111 1111 1111 1111 2026", "4111 1111 1111 1111"),
        ("4111111111111111 1226", "4111111111111111"),
        ("4111.1111.1111.1111", "4111.1111.1111.1111"),
        ("3782 822463 10005", "3782 822463 10005"),
        ("2221000000000009", "2221000000000009"),
        # a private key to its end, or to the end of the text
        (f"here: {PEM} and more", PEM),
        (f"here: {ENCRYPTED_PEM} and more", ENCRYPTED_PEM),
        (f"Private-Lines: 2\n{LETTERS * 2}\n{LETTERS[:20]}\nPrivate-MAC: 0", f"{LETTERS * 2}\n{LETTERS[:20]}"),
        (f"here: {ENCRYPTED_PEM[:-31]}", ENCRYPTED_PEM[:-31]),
        # one that holds another is taken out whole
        (f"password=ghp_{BODY}!tail", f"ghp_{BODY}!tail"),
    ],
)
def test_a_secret_that_is_called_one_is_found(text: str, secret: str) -> None:
    (found,) = secrets(text)
    assert text[found.start : found.end] == secret
    assert redacted(text) == text.replace(secret, f"[redacted {found.what}]")
    assert secrets(redacted(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        # talk
        "Caroline adopted a grey cat, Oscar",
        "the password is wrong",
        "my secret is that I like rainy days",
        "the secret is low-heat cooking",
        "The secret is 24-hour marinating",
        "the secret is hunter2-level patience",
        "secret: don't rush it",
        "the key is patience, the token gesture was nice",
        "password is case-sensitive",
        "the password is sha256-hashed, the api key is v2-only",
        "the password: what's it for?",
        "the password is 10-digit, the passcode is 12chars",
        "the passcode is on the fridge",
        "password: https://vault.example/item/42b7",
        "the bearer identification-documents/certificates are valid",
        "the heading -----BEGIN PRIVATE KEY----- marks a key file, as everybody knows",
        "xoxo-hugs-and-kisses",
        # placeholders and code
        "password=<your password>",
        "password=${DB_PASSWORD}",
        "password=$DB_PASSWORD",
        "https://user:${PASSWORD}@host, postgres://user:password@localhost",
        "api_key=changeme",
        "password=********",
        "password = getpass()",
        "password=os.environ['PW']",
        "pwd=$(pwd)",
        "secret = load_secret(path)",
        "connect(user=user, password=None)",
        "connect(user=user, password=settings.password)",
        "connect(api_key=API_KEY)",
        "PASSWORD_FILE=/run/secrets/db; password=/run/secrets/db",
        '{"password": "Please type your password"}',
        "max_tokens=4096, token_count: 128000",
        "sorted(hits, key=lambda hit: hit.score2024a1b2)",
        "MyVeryLongClassNameForHttp2RequestsHandler",
        "test_Recall_Returns_3_Hits_In_Order",
        "a_function_name_that_is_quite_long_indeed_2",
        "TheQuickBrownFoxJumpsOverTheLazyDog",
        "sk-learn-based-classifiers-are-fine",
        "sk-learn-based-classifiers-of-2024-are-fine",
        "Qwen2-72B-Instruct-GPTQ-Int4",
        "IMG_20240508_123456_Edited_Copy",
        # hashes, ids and numbers
        "commit 9adf1f5c0a6b4e3d2c1b0a9f8e7d6c5b4a392817 fixed it",
        "the key commit is 9adf1f5c0a6b4e3d2c1b0a9f8e7d6c5b4a392817",
        "the public key is 9adf1f5c0a6b4e3d2c1b0a9f8e7d6c5b4a392817",
        "cache_key=9adf1f5c0a6b4e3d2c1b0a9f8e7d6c5b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "the primary key is 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "key: 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "thinkback undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8",
        "key: reports/2024/q3/summary.csv",
        "call me at +47 22 33 44 55 or 004722334455",
        "call 4915 2345 678 901",
        "ISBN 978-3-16-148410-0, EAN 4006381333931",
        "IBAN DE89 3704 0044 0532 0130 00, or DE89370400440532013000",
        "on 2026-05-08 at 12:00:00, until 08/05/2026",
        "IMEI 490154203237518",
        "0.4111111111111111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "version 2026.05.08.1234567890123",
        # meant to be public
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{BODY} anna@example.org",
        f"the ssh key AAAAC3NzaC1lZDI1NTE5AAAAI{BODY}",
        f"the publishable key pk_live_{BODY}",
        "export GITLAB_TOKEN=glpat-your-personal-access-token",
        "docker run -u node:node curl, or curl -u user:password",
        # long strings
        "https://example.org/a/very/long/path/with-many-words-in-it/and-more",
        "https://example.org:443?mail=anna@example.org",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
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
    (short,) = secrets("password=abcd")
    assert short.hint == "ab…"


def test_redaction_reaches_into_json() -> None:
    value = {"note": f"key sk-ant-{BODY}", "list": ["password=hunter2", 3, None, {"ghp_" + BODY: True}]}
    assert redacted_json(value) == {
        "note": "key [redacted Anthropic key]",
        "list": ["password=[redacted password]", 3, None, {"[redacted GitHub token]": True}],
    }


def test_redaction_takes_out_what_stands_under_the_name_of_a_secret() -> None:
    value = {"dbPassword": "swordfish", "token": HEX, "key": "cats", "secret": "<none>", "auth": {"api_key": "abcd"}}
    assert redacted_json(value) == {
        "dbPassword": "[redacted password]",
        "token": "[redacted token]",
        "key": "cats",
        "secret": "<none>",
        "auth": {"api_key": "[redacted password]"},
    }
    assert [(found.what, found.hint) for found in json_secrets(value)] == [
        ("password", "swor…"),
        ("token", "9f86…"),
        ("password", "ab…"),
    ]
    assert list(json_secrets(redacted_json(value))) == []


def test_a_webhook_keeps_its_address() -> None:
    text = f"post to https://hooks.slack.com/services/T00000000/B00000000/{BODY[:24]}"
    assert redacted(text) == "post to https://hooks.slack.com/[redacted Slack webhook]"


PIECES = (
    *(
        "password",
        "secret",
        " token",
        " key",
        "=",
        ": ",
        " is ",
        '"',
        "'",
        "\\",
        "\n",
        " ",
        ",",
        ")",
        "-",
        "@",
        "://a:",
    ),
    *("my PIN", " door code", "passphrase", " for the gate", " 4711#", "4821", " nine lemon otter copper", "wi-fi pw"),
    *("hunter2!", HEX, LETTERS, f"ghp_{BODY}", "sk-", "eyJ", "4111 1111 1111 1111", "-----BEGIN PRIVATE KEY-----", PEM),
)


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a-",
            "a_",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "eyJ.",
            "-eyJ",
            "--sk-",
            "ghp_",
            "4 ",
            "4111 ",
            "4111-",
        ),
        *(
            "password",
            "password=",
            'password="',
            "password='\\",
            'password=\\"',
            "password=hunter2 ",
            "password is ",
            "_key",
        ),
        *("pin ", "my pin for ", "4821 is my ", "change the password to ", "the code for the ", "passphrase lemon "),
        *("lemon ", "recovery phrase ", "safe combination 1 2 ", "login: a / ", "curl -u ", "code 12-"),
        *("x://a:", "x://a:b@", "Aa1", "bearer ", "token ", f"token {HEX} ", "key:a1", "authorization:basic "),
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Ten times the text costs about ten times as much, not a hundred."""

    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        begun = time.process_time()
        redacted(text)
        return time.process_time() - begun

    cost(1000)
    assert cost(100_000) < 60 * max(cost(10_000), 0.01)
