"""SQLite's errors as Thinkback's."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from thinkback.errors import Action, Remedy, StoreBusy, StoreDamaged, StoreError, StoreReadOnly
from thinkback.stores.sqlite import damage


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise what SQLite says about a file as an error of Thinkback, with a remedy."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(f"{path} is locked by another process ({error}); try again, or raise busy_timeout_s") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        message = f"{path} is damaged ({error}); the transaction was rolled back"
        raise StoreDamaged(message, remedy=Remedy(Action.CHECK)) from error
    except apsw.SQLError as error:
        if not damage.of_an_index(error):
            raise
        raise StoreDamaged(
            f"{path} lacks a usable index ({error})", code="missing_index", remedy=Remedy(Action.REPAIR)
        ) from error
    except apsw.ConstraintError as error:  # inputs are checked before: an index contradicts its table
        raise StoreDamaged(
            f"{path} is damaged ({error}); nothing was written", code="damaged_row", remedy=Remedy(Action.REPAIR)
        ) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreReadOnly(f"{path} cannot be written ({error})") from error
    except (apsw.CantOpenError, apsw.FullError, apsw.IOError) as error:
        raise StoreError(f"{path} cannot be used ({error}); check the disk and the folder's permissions") from error


@contextmanager
def not_opened(path: str) -> Iterator[None]:
    """Like `translated`, while a file is opened: one that cannot be opened can neither be checked nor repaired."""
    try:
        with translated(path):
            yield
    except StoreDamaged as error:
        error.remedy = Remedy(Action.SALVAGE, path)
        raise
