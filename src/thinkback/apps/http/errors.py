"""Every error the server answers with: a status, a code for programs, and a sentence for people."""

from collections.abc import Collection, Mapping

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from thinkback.apps.validation import problems
from thinkback.errors import (
    Action,
    EmbeddingSpaceMismatch,
    InvalidInput,
    MissingExtra,
    ModelError,
    NotFound,
    Notice,
    RecipeError,
    RemoteError,
    StoreBusy,
    StoreConflict,
    StoreReadOnly,
    StoreUnreachable,
    ThinkbackError,
    worded,
)


class ErrorDetail(TypedDict):
    """Why a request failed."""

    code: str
    message: str


class ErrorShape(TypedDict):
    """The body of every error."""

    error: ErrorDetail


class HttpError(Exception):
    """A request that fails with this status."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The error as JSON."""
        body: ErrorShape = {"error": {"code": self.code, "message": self.message}}
        return JSONResponse(body, status_code=self.status, headers=self.headers)


# The first class an error belongs to gives its status; any other error of the engine is a fault of the server.
_STATUSES: tuple[tuple[type[ThinkbackError], int], ...] = (
    (NotFound, 404),
    (InvalidInput, 422),
    (RecipeError, 422),
    (EmbeddingSpaceMismatch, 409),
    (StoreReadOnly, 409),
    (StoreBusy, 503),
    (StoreConflict, 503),
    (StoreUnreachable, 503),
    (MissingExtra, 501),
    (ModelError, 503),
    (RemoteError, 502),
)

# How a client of this server acts on a remedy.
WORDS: Mapping[Action, str] = {
    Action.LIST_MEMORIES: "GET /v1/memories lists the ids.",
    Action.LIST_BATCHES: "The answers of POST /v1/reflect and POST /v1/tidy name their batches.",
    Action.EMBED_MISSING: "To embed them: POST /v1/embed-missing",
    Action.REEMBED: "To embed everything with the model in use: POST /v1/reembed",
    Action.REFLECT: "To write themes again: POST /v1/reflect",
    Action.AUDIT: "POST /v1/audit lists them.",
    Action.JUDGE: "Judge some answers first: POST /v1/judgements",
    Action.CHOOSE_EMBEDDER: "Whoever runs the server can read it with: thinkback reembed --embedder {subject}",
    Action.CHECK: "To see what is wrong: POST /v1/check",
    Action.REPAIR: "To repair it: POST /v1/repair",
    Action.SALVAGE: "Whoever runs the server can restore a backup, or save what can be read: thinkback salvage FILE NEW",
    Action.RENEW_BACKUPS: "Whoever runs the server can make new ones and delete the old.",
    Action.SKIP_BAD_LINES: "Correct the line, or leave out bad lines: POST /v1/import?skip_bad=true",
    Action.PULL_MODEL: "Whoever runs the server can fetch it: thinkback models pull {subject}",
    Action.INSTALL_EXTRA: "Whoever runs the server can install it: pip install 'thinkback[{subject}]'",
}


def in_words(about: ThinkbackError | Notice) -> str:
    """An error or a warning of the engine in the words of this server."""
    return printable(worded(about, WORDS))


def http_error(error: ThinkbackError) -> HttpError:
    """How an error of the engine is answered."""
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return HttpError(status, error.code, in_words(error), {"Retry-After": "1"} if status == 503 else {})
    return HttpError(500, error.code, "the store cannot answer; see the server's log")


def invalid(error: ValidationError, model: type[BaseModel], hidden: Collection[str] = ()) -> HttpError:
    """A request that does not fit its model, with every field that is wrong."""
    return HttpError(422, "invalid_input", printable("; ".join(problems(error, model, hidden))))


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Starlette's handler for HttpError."""
    assert isinstance(error, HttpError)
    return error.response()


async def answer_engine_error(request: Request, error: Exception) -> Response:
    """Starlette's handler for errors of the engine."""
    assert isinstance(error, ThinkbackError)
    return http_error(error).response()


async def answer_crash(request: Request, error: Exception) -> Response:
    """Starlette's handler for everything else; the details go to the log, not to the client."""
    return HttpError(500, "internal", "the server failed; see its log").response()


def printable(text: str) -> str:
    """Text that UTF-8 can carry."""
    return text.encode("utf-8", "backslashreplace").decode()
