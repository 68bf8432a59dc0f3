"""The log of hooks: when, where and which error; never a text of the session."""

import os
import traceback
from datetime import UTC, datetime
from pathlib import Path

MOST_BYTES = 1 << 20


def log_file() -> Path:
    """The log, in the user's data folder."""
    from thinkback.settings import Settings

    return Settings().store_path.parent / "agent.log"


def log_error(where: str, error: BaseException) -> None:
    """One line: the type of the error and the place it was raised at."""
    path = log_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > MOST_BYTES:
        os.replace(path, path.with_suffix(".log.1"))
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    code = getattr(error, "code", "")
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {where} {type(error).__name__} {code} at {places}\n")
