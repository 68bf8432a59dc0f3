"""The chat client, over real HTTP against a server that misbehaves in every way we could think of."""

import gzip
import json
import logging
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from codes import raises

from thinkback.errors import InvalidInput, RemoteError
from thinkback.models.chat import OpenAiChat
from thinkback.search.query.ask_model import ask_for_tags
from thinkback.search.query.tags import InferredTag, Vocabulary

KEY = "sk-secret-0123456789"


def completion(text: object) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), json.loads(body)))
        script = self.server.script
        step = script.pop(0) if len(script) > 1 else script[0]
        step(self)
        self.close_connection = True

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


Step = Callable[[Handler], None]


class Server(ThreadingHTTPServer):
    """Plays its script, one step a request; the last step stays."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.script: list[Step] = []
        self.closing = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up on a trickle is what the tests are about."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def chat(server: Server, waits: list[float]) -> OpenAiChat:
    return OpenAiChat(server.base_url, "small", KEY, timeout_s=30, retries=2, sleep=waits.append)


def says(text: str) -> Step:
    return lambda handler: handler.answer(200, completion(text))


def fails(status: int, body: bytes = b"busy", **headers: str) -> Step:
    return lambda handler: handler.answer(status, body, **headers)


def trickle(first: bytes, piece: bytes) -> Step:
    """Send a piece every 20 ms, which no timeout of silence ends, and give up after 10 seconds."""

    def step(handler: Handler) -> None:
        handler.wfile.write(first)
        for _ in range(500):
            handler.wfile.write(piece)
            if handler.server.closing.wait(0.02):
                return

    return step


def hang_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut_short(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(completion("hello")[:20])


class TestAnswers:
    def test_a_question_goes_out_in_openais_form_and_its_text_comes_back(self, server, chat):
        server.script = [says("hello")]
        assert chat.complete("Be brief.", "Hi? Grüße 🤖 \ud800", 100) == "hello"
        [(path, headers, body)] = server.requests
        assert path == "/v1/chat/completions"
        assert headers["Authorization"] == f"Bearer {KEY}"
        assert body == {
            "model": "small",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi? Grüße 🤖 \ud800"},
            ],
            "max_tokens": 100,
            "temperature": 0,
        }

    def test_without_a_key_no_authorization_is_sent(self, server):
        server.script = [says("hello")]
        OpenAiChat(server.base_url + "/", "small").complete("", "", 1)
        [(path, headers, _)] = server.requests
        assert path == "/v1/chat/completions"
        assert "Authorization" not in headers

    def test_options_and_the_name_of_the_token_limit_can_be_chosen(self, server):
        server.script = [says("hello")]
        chat = OpenAiChat(server.base_url, "m", options={"seed": 7}, token_limit_name="max_completion_tokens")
        chat.complete("s", "u", 9)
        body = server.requests[0][2]
        assert (body["seed"], body["max_completion_tokens"]) == (7, 9)
        assert "max_tokens" not in body
        assert "temperature" not in body

    def test_proxies_of_the_environment_are_left_alone(self, server, chat, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
        server.script = [says("hello")]
        assert chat.complete("", "", 1) == "hello"

    def test_another_transport_can_be_passed(self):
        transport = httpx.MockTransport(lambda request: httpx.Response(200, content=completion(request.url.host)))
        chat = OpenAiChat("http://elsewhere/v1", "m", transport=transport)
        assert [chat.complete("", "", 1), chat.complete("", "", 1)] == ["elsewhere", "elsewhere"]


class TestNonsense:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"garbage",
            b"<html>It works!</html>",
            b"\xff\xfe\x00",
            completion("hello")[:-5],
            b"null",
            b"[]",
            b'{"choices": []}',
            b'{"choices": [{"message": {}}]}',
            b'{"choices": [{"text": "old style"}]}',
            completion(None),
            completion(""),
            completion(["parts"]),
            b"[" * 100_000,
            b'{"choices": [{"message": {"content": ' + b"9" * 5000 + b"}}]}",
        ],
        ids=lambda body: body[:24].decode("latin-1"),
    )
    def test_an_answer_that_is_no_completion_is_a_remote_error_at_once(self, server, chat, waits, body):
        server.script = [fails(200, body)]
        with raises(RemoteError, "invalid_answer"):
            chat.complete("s", "u", 1)
        assert (len(server.requests), waits) == (1, [])

    def test_an_oversized_answer_is_refused(self, server):
        server.script = [says("x" * 2000)]
        assert len(OpenAiChat(server.base_url, "m", max_answer_bytes=3000).complete("", "", 1)) == 2000
        with raises(RemoteError, "answer_too_large"):
            OpenAiChat(server.base_url, "m", max_answer_bytes=1000).complete("", "", 1)

    def test_a_packed_answer_is_not_unpacked(self, server, chat):
        """A megabyte of spaces packs to a kilobyte, and the limit is one of what we hold in memory."""
        server.script = [fails(200, gzip.compress(completion(" " * 1_000_000 + "x")), Content_Encoding="gzip")]
        with raises(RemoteError, "invalid_answer"):
            chat.complete("s", "u", 1)

    def test_an_endless_answer_is_read_no_further_than_the_limit(self, server):
        server.script = [trickle(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x" * 600)]
        with raises(RemoteError, "answer_too_large"):
            OpenAiChat(server.base_url, "m", max_answer_bytes=1000, timeout_s=30).complete("", "", 1)

    def test_a_redirect_is_not_followed_with_the_key(self, server, chat):
        server.script = [fails(307, b"", Location="http://127.0.0.1:9/steal")]
        with raises(RemoteError, "http_status"):
            chat.complete("s", "u", 1)


class TestRetries:
    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
    def test_a_passing_failure_is_tried_again_after_a_growing_wait(self, server, chat, waits, status):
        server.script = [fails(status), fails(status), says("hello")]
        assert chat.complete("s", "u", 1) == "hello"
        assert waits == [0.5, 0.5 * 2]

    @pytest.mark.parametrize("step", [hang_up, cut_short])
    def test_a_broken_connection_is_tried_again(self, server, chat, waits, step):
        server.script = [step, says("hello")]
        assert chat.complete("s", "u", 1) == "hello"
        assert waits == [0.5]

    def test_after_so_many_retries_the_failure_is_told(self, server, chat, waits):
        server.script = [fails(503, b"overloaded")]
        with raises(RemoteError, "http_status"):
            chat.complete("s", "u", 1)
        assert len(server.requests) == 1 + 2
        assert len(waits) == 2

    def test_no_server_is_a_remote_error_too(self, waits):
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        chat = OpenAiChat(f"http://127.0.0.1:{port}/v1", "m", sleep=waits.append)
        with raises(RemoteError, "unreachable"):
            chat.complete("s", "u", 1)
        assert len(waits) == 2

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
    def test_a_refusal_is_final(self, server, chat, waits, status):
        server.script = [fails(status, b'{"error": "no"}')]
        with raises(RemoteError, "http_status"):
            chat.complete("s", "u", 1)
        assert (len(server.requests), waits) == (1, [])

    @pytest.mark.parametrize(
        ("retry_after", "wait"),
        [("3", 3.0), ("0", 0.0), ("1.5", 1.5), ("soon", 0.5), ("-4", 0.5), ("nan", 0.5), ("", 0.5)],
    )
    def test_the_wait_is_what_the_server_asks_for(self, server, chat, waits, retry_after, wait):
        server.script = [fails(429, Retry_After=retry_after), says("hello")]
        assert chat.complete("s", "u", 1) == "hello"
        assert waits == [wait]

    def test_the_server_may_ask_with_a_date(self, server, chat, waits):
        past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
        server.script = [fails(503, Retry_After=past), says("hello")]
        assert chat.complete("s", "u", 1) == "hello"
        assert waits == [0.0]

    def test_a_wait_beyond_the_deadline_is_not_begun(self, server, chat, waits):
        server.script = [fails(429, Retry_After="3600")]
        with raises(RemoteError, "http_status"):
            chat.complete("s", "u", 1)
        assert (len(server.requests), waits) == (1, [])


class TestTheDeadline:
    @pytest.mark.parametrize(
        ("first", "piece"),
        [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" "),
            (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        ],
        ids=["body", "headers", "chunks"],
    )
    def test_a_slow_trickle_ends_with_it(self, server, first, piece):
        server.script = [trickle(first, piece)]
        with raises(RemoteError, "timeout"):
            OpenAiChat(server.base_url, "m", timeout_s=0.3).complete("s", "u", 1)
        assert len(server.requests) == 1

    def test_silence_ends_with_it(self, server):
        server.script = [lambda handler: handler.server.closing.wait(10) and None]
        with raises(RemoteError, "timeout"):
            OpenAiChat(server.base_url, "m", timeout_s=0.2).complete("s", "u", 1)

    def test_it_covers_the_waits_between_tries(self, server, waits):
        server.script = [fails(503)]
        with raises(RemoteError, "http_status"):
            OpenAiChat(server.base_url, "m", timeout_s=0.4, sleep=waits.append).complete("s", "u", 1)
        assert waits == []


class TestTheKeyStaysSecret:
    @pytest.mark.parametrize(
        "step",
        [
            fails(401, f"Incorrect API key provided: {KEY}".encode()),
            fails(500, f"{KEY} {KEY}".encode()),
            fails(200, f"not json {KEY}".encode()),
            hang_up,
            cut_short,
        ],
    )
    def test_it_is_in_no_error_trace_or_log(self, server, chat, caplog, step):
        server.script = [step]
        with caplog.at_level(logging.DEBUG), pytest.raises(RemoteError) as caught:
            chat.complete("s", "u", 1)
        shown = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
        assert KEY not in shown
        assert server.requests[0][1]["Authorization"].endswith(KEY)
        chain = caught.value
        while chain := chain.__cause__ or chain.__context__:
            assert not isinstance(chain, httpx.HTTPError), "its request carries the key"

    def test_it_is_not_in_the_description(self, chat):
        assert KEY not in repr(chat)
        assert KEY not in str(chat)

    @pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} x", f"{KEY}é", f"\x00{KEY}"])
    def test_a_key_that_cannot_be_sent_is_refused_unshown(self, key):
        with pytest.raises(InvalidInput) as caught:
            OpenAiChat("http://localhost/v1", "m", key)
        assert KEY not in str(caught.value)

    @pytest.mark.parametrize(
        "url", [f"http://me:{KEY}@localhost/v1", f"http://localhost/v1?key={KEY}", f"http://localhost/v1#{KEY}"]
    )
    def test_an_address_with_a_key_in_it_is_refused_unshown(self, url):
        with raises(InvalidInput, "secret_in_address") as caught:
            OpenAiChat(url, "m")
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "http://", "", "http://[broken"])
def test_an_address_must_be_one(url):
    with raises(InvalidInput, "not_an_address"):
        OpenAiChat(url, "m")


@pytest.mark.parametrize("settings", [{"timeout_s": 0}, {"timeout_s": float("inf")}, {"retries": -1}])
def test_limits_must_be_limits(settings):
    with raises(InvalidInput, "out_of_range"):
        OpenAiChat("http://localhost/v1", "m", **settings)


class TestTagsOverHttp:
    """The whole way: a question about tags, a server's answer, and tags or a reason."""

    vocabulary = Vocabulary.of({"pets": 3, "travel": 2})

    @pytest.mark.parametrize(
        ("step", "tags"),
        [
            (says('["pets"]'), ("pets",)),
            (says('["no-such-tag", "travel"]'), ("travel",)),
            (says('["no-such-tag"]'), ()),
            (says('["pets", "tra'), ("pets",)),
            (says("garbage"), ()),
            (fails(200, b"garbage"), ()),
            (fails(500), ()),
            (fails(429), ()),
            (hang_up, ()),
        ],
    )
    def test_every_answer_gives_known_tags_or_an_error(self, server, chat, step, tags):
        server.script = [step]
        with nullcontext() if tags else pytest.raises(RemoteError):
            assert ask_for_tags("my animals", self.vocabulary, chat) == tuple(InferredTag(tag, "llm") for tag in tags)
