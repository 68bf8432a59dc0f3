"""Reading request bodies, within limits of size and time."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import IO, Any

from starlette.requests import ClientDisconnect, Request

from thinkback.apps.http.errors import HttpError
from thinkback.apps.validation import strict_json

JSON_LIMIT = 1_000_000
IMPORT_LIMIT = 100_000_000
JSON_SECONDS = 30.0
IMPORT_SECONDS = 900.0
_IN_MEMORY = 1_000_000


async def read_json(request: Request) -> dict[str, Any]:
    """A JSON object of at most 1 MB; an empty body is an empty object."""
    raw = await read(request)
    if not raw:
        return {}
    _check_type(request, "application/json")
    try:
        data = strict_json(raw.decode("utf-8"))
    except ValueError as error:
        raise HttpError(422, "invalid_input", f"the body is not JSON: {str(error)[:200]}") from None
    if not isinstance(data, dict):
        raise HttpError(422, "invalid_input", "the body must be a JSON object")
    return data


async def read(request: Request) -> bytes:
    """A body of at most 1 MB, as it is."""
    return b"".join([chunk async for chunk in chunks(request, JSON_LIMIT, JSON_SECONDS)])


async def spool(request: Request, content_type: str) -> IO[bytes]:
    """A large body in a temporary file, complete before anything is done with it; closing the file removes it."""
    _check_type(request, content_type)
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    try:
        async for chunk in chunks(request, IMPORT_LIMIT, IMPORT_SECONDS):
            file.write(chunk)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


async def chunks(request: Request, limit: int, seconds: float) -> AsyncIterator[bytes]:
    """A body as it arrives, within a size and a time."""
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared[:20]) > limit:
        raise _too_large(limit)
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise _too_large(limit)
                yield chunk
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds"
        raise HttpError(408, "slow", message, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise HttpError(400, "gone", "the client disconnected") from None


def _too_large(limit: int) -> HttpError:
    message = f"the body is larger than {limit} bytes; an import may have {IMPORT_LIMIT}"
    return HttpError(413, "too_large", message, {"Connection": "close"})


def _check_type(request: Request, wanted: str) -> None:
    given = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if given != wanted:
        raise HttpError(415, "content_type", f"send the body as {wanted}, not as {given[:80] or 'nothing'}")
