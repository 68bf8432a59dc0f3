"""Every way the server says no: a status, a reason a program can act on, and a sentence for people."""

from collections.abc import Collection, Mapping

from pydantic import BaseModel, ValidationError
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from thinkback.apps.validation import problems, reworded
from thinkback.errors import (
    EmbeddingSpaceMismatch,
    InvalidInput,
    MissingExtra,
    ModelError,
    NotFound,
    RecipeError,
    RemoteError,
    StoreBusy,
    StoreReadOnly,
    ThinkbackError,
)


class ErrorDetail(TypedDict):
    """Why a request was refused."""

    reason: str
    message: str


class ErrorShape(TypedDict):
    """The body of every refusal."""

    error: ErrorDetail


class Refused(Exception):
    """A request that is not served."""

    def __init__(self, status: int, reason: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The refusal as JSON."""
        body: ErrorShape = {"error": {"reason": self.reason, "message": self.message}}
        return JSONResponse(body, status_code=self.status, headers=self.headers)


# The first row an error belongs to says how it is answered.
_ANSWERS: tuple[tuple[type[ThinkbackError], int, str], ...] = (
    (NotFound, 404, "not_found"),
    (InvalidInput, 422, "invalid"),
    (RecipeError, 422, "invalid"),
    (EmbeddingSpaceMismatch, 409, "other_model"),
    (StoreReadOnly, 409, "read_only"),
    (StoreBusy, 503, "busy"),
    (MissingExtra, 501, "not_installed"),
    (ModelError, 503, "no_model"),
    (RemoteError, 502, "remote"),
)


# How a client of this server does what the engine's errors tell people at a command line to do.
_WORDS = {
    "`thinkback list` shows the ids": "GET /v1/memories lists what there is",
    "`thinkback undo --list` shows what there is": "the answers of reflect and tidy name theirs",
    "with --skip-bad": "with ?skip_bad=true",
    "thinkback embed --missing": "POST /v1/embed-missing",
    "thinkback doctor --repair": "POST /v1/repair",
}


def said(message: str) -> str:
    """A message of the engine, in the words of this server."""
    return reworded(message, _WORDS)


def refusal(error: ThinkbackError) -> Refused:
    """How an error of the engine is answered."""
    for kind, status, reason in _ANSWERS:
        if isinstance(error, kind):
            headers = {"Retry-After": "1"} if status == 503 else {}
            return Refused(status, reason, printable(said(str(error))), headers)
    return Refused(500, "store", "the store cannot answer; the server's log says why")


def invalid(error: ValidationError, model: type[BaseModel], without: Collection[str] = ()) -> Refused:
    """What is wrong with a request, field by field."""
    return Refused(422, "invalid", printable("; ".join(problems(error, model, without))))


def printable(text: str) -> str:
    """Text that UTF-8 can carry."""
    return text.encode("utf-8", "backslashreplace").decode()
