"""Files as earlier versions wrote them."""

import apsw

ACCESSES_IN_ROWS = "DROP TABLE accesses; DROP TABLE recent_accesses;"
VECTORS_BY_PAIR = f"""
{ACCESSES_IN_ROWS}
CREATE TABLE by_pair (
    seq INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (seq, generation)
) STRICT;
INSERT INTO by_pair SELECT place & 0xFFFFFFFFFF, generation, vector FROM vectors ORDER BY place;
DROP TABLE vectors;
ALTER TABLE by_pair RENAME TO vectors;
"""


def with_vectors_by_pair(path: str, version: int = 10) -> None:
    """Turn a closed file into one whose vectors have two numbers as their key."""
    connection = apsw.Connection(path)
    connection.execute(
        f"PRAGMA secure_delete = ON; BEGIN; {VECTORS_BY_PAIR} PRAGMA user_version = {version}; COMMIT"
    ).fetchall()
    connection.close()
