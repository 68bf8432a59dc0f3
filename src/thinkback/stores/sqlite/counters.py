"""The change counters, by which a process notices the writes of others."""

import apsw

from thinkback.stores.base import StoreState

_REMOVED_KEPT = 20_000


def state(connection: apsw.Connection) -> StoreState:
    """Which store this is and how often it was written."""
    sql = (
        "SELECT store_id, changes, touches, last_seq, removed_before, (SELECT max(changed) FROM removed) FROM counters"
    )
    store_id, changes, touches, last_seq, removed_before, removed = next(connection.execute(sql))
    return StoreState(store_id, changes, touches, f"{last_seq}.{removed_before}.{removed or 0}")


def contents(connection: apsw.Connection) -> str:
    """Changes when versions are added, removed or repaired; not with standing fields, links or access counts."""
    return state(connection).contents


def bump(connection: apsw.Connection) -> int:
    """Increment the change counter; rows of this change store its value in `changed`."""
    return int(connection.execute("UPDATE counters SET changes = changes + 1 RETURNING changes").get)


def bump_touches(connection: apsw.Connection) -> None:
    connection.execute("UPDATE counters SET touches = touches + 1")


def last_seq(connection: apsw.Connection) -> int:
    """The highest row number assigned so far."""
    return int(connection.execute("SELECT last_seq FROM counters").get)


def take_seqs(connection: apsw.Connection, count: int) -> range:
    """Assign new row numbers, which are never reused."""
    last = int(connection.execute("UPDATE counters SET last_seq = last_seq + ? RETURNING last_seq", (count,)).get)
    return range(last - count + 1, last + 1)


def note_removed(connection: apsw.Connection, seqs: list[int], change: int) -> None:
    """Record the numbers of removed rows for the caches; the oldest are dropped."""
    connection.executemany(
        "INSERT OR REPLACE INTO removed (seq, changed) VALUES (?, ?)", ((seq, change) for seq in seqs)
    )
    if connection.execute("SELECT count(*) FROM removed").get > _REMOVED_KEPT:
        sql = "SELECT changed FROM removed ORDER BY changed DESC LIMIT 1 OFFSET ?"
        oldest = connection.execute(sql, (_REMOVED_KEPT // 2,)).get
        connection.execute("DELETE FROM removed WHERE changed <= ?", (oldest,))
        connection.execute("UPDATE counters SET removed_before = ?", (oldest,))
