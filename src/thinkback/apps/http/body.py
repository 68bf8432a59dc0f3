"""Reading what a client sends, never more and never longer than allowed."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import IO, Any

from starlette.requests import ClientDisconnect, Request

from thinkback.apps.http.errors import Refused
from thinkback.apps.http.strict_json import strict_json

JSON_LIMIT = 1_000_000
IMPORT_LIMIT = 100_000_000
JSON_SECONDS = 30.0
IMPORT_SECONDS = 900.0
_IN_MEMORY = 1_000_000


async def read_json(request: Request) -> dict[str, Any]:
    """A JSON object of at most 1 MB; an empty body is an empty object."""
    raw = b"".join([chunk async for chunk in _chunks(request, JSON_LIMIT, JSON_SECONDS)])
    if not raw:
        return {}
    _check_type(request, "application/json")
    try:
        data = strict_json(raw.decode("utf-8"))
    except ValueError as error:
        raise Refused(422, "invalid", f"the body is not JSON: {str(error)[:200]}") from None
    if not isinstance(data, dict):
        raise Refused(422, "invalid", "the body must be a JSON object")
    return data


async def spool(request: Request, content_type: str) -> IO[bytes]:
    """A large body, in a temporary file that vanishes when it is closed; nothing is acted on before all of it is here."""
    _check_type(request, content_type)
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - handed on to the caller
    try:
        async for chunk in _chunks(request, IMPORT_LIMIT, IMPORT_SECONDS):
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


async def _chunks(request: Request, limit: int, seconds: float) -> AsyncIterator[bytes]:
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared[:20]) > limit:
        raise _too_large(limit)
    read = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                read += len(chunk)
                if read > limit:
                    raise _too_large(limit)
                yield chunk
    except TimeoutError:
        raise Refused(
            408, "slow", f"the body did not arrive within {seconds:g} seconds", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise Refused(400, "gone", "the client went away") from None


def _too_large(limit: int) -> Refused:
    return Refused(
        413, "too_large", f"the body is larger than {limit} bytes; import takes {IMPORT_LIMIT}", {"Connection": "close"}
    )


def _check_type(request: Request, wanted: str) -> None:
    given = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if given != wanted:
        raise Refused(415, "content_type", f"send the body as {wanted}; it came as {given[:80] or 'nothing'}")
