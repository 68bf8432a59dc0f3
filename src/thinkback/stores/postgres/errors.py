"""What PostgreSQL's failures are called here, and which of them may be tried again."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout

from thinkback.errors import (
    InvalidInput,
    StoreBusy,
    StoreConflict,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreUnreachable,
)

TRIES = 4  # of what may be tried again
_GONE = (
    pg.AdminShutdown,
    pg.CrashShutdown,
    pg.CannotConnectNow,
    pg.DatabaseDropped,
    pg.ConnectionException,
    pg.IdleInTransactionSessionTimeout,
)


@contextmanager
def translated() -> Iterator[None]:
    """Raises Thinkback's errors in place of psycopg's."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed) as error:
        raise of(error) from error


def of(error: Exception) -> StoreError | InvalidInput:
    """The error as Thinkback tells it."""
    said = " ".join(str(error).split())[:300]
    if isinstance(error, PoolTimeout):
        return StoreBusy(f"no connection became free in time ({said}); raise pool_size", code="pool_exhausted")
    if isinstance(error, PoolClosed):
        return StoreError("the store is closed; open it again", code="closed")
    if isinstance(error, pg.DeadlockDetected | pg.SerializationFailure):
        return StoreConflict(f"another transaction was in the way ({said})")
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return StoreReadOnly(
            f"the server takes no writes ({said}); it is a standby, write to the primary", code="standby"
        )
    if isinstance(error, pg.LockNotAvailable | pg.QueryCanceled):
        return StoreBusy(f"the server gave up waiting ({said})")
    if isinstance(error, pg.InsufficientPrivilege):
        return StoreError(f"the role may not do that ({said}); see docs/postgres.md", code="not_permitted")
    if isinstance(error, pg.UndefinedTable | pg.UndefinedColumn | pg.InvalidSchemaName):
        return StoreDamaged(f"the database lacks a part ({said}); restore it from a backup")
    if isinstance(error, pg.ProgramLimitExceeded):
        return InvalidInput(f"a name is too long for an index of the server ({said})", code="name_too_long")
    if isinstance(error, _GONE) or (isinstance(error, psycopg.OperationalError) and error.sqlstate is None):
        return StoreUnreachable(f"the connection to the server was lost ({said})")
    return StoreError(f"the server refused ({said})", code="server_error")
