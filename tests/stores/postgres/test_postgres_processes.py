"""Six processes write one space, and twenty spaces at once: no write is lost, and no deadlock reaches a caller."""

import subprocess
import sys

import pytest

from thinkback.model import Filter
from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces
from thinkback.testing.contract.words import NOW, everything

from postgres_server import LocalServer  # isort: skip

pytestmark = pytest.mark.postgres

PROCESSES, SPACES, WRITES = 6, 20, 10
_WRITER = """
import sys
from thinkback.model import Access, Draft
from thinkback.stores.postgres import PostgresSpaces
from thinkback.testing.contract.words import NOW, SPACE, TOY

url, me, names, writes = sys.argv[1], sys.argv[2], sys.argv[3].split(","), int(sys.argv[4])
with_spaces = PostgresSpaces(url)
for n in range(writes):
    for name in names:
        with with_spaces.open(name) as store:
            text = f"memory {n} of writer {me}"
            draft = Draft(id=f"{me}-{n}", text=text, vector=TOY.embed_query(text), tags=(f"writer-{me}",))
            store.add([draft], NOW, SPACE)
            store.update(f"{me}-{n}", {"text": text + ", told again"}, NOW + 1, TOY.embed_query(text), SPACE)
            store.touch({f"{me}-{n}": Access(1, NOW)})
with_spaces.close()
"""


def written_by_all(url: str, names: list[str], writes: int) -> None:
    arguments = [",".join(names), str(writes)]
    running = [
        subprocess.Popen([sys.executable, "-c", _WRITER, url, str(me), *arguments], stderr=subprocess.PIPE, text=True)
        for me in range(PROCESSES)
    ]
    told = [one.communicate()[1] for one in running]
    assert [one.returncode for one in running] == [0] * PROCESSES, told


def check(store: Store, writes: int) -> None:
    count = PROCESSES * writes
    state = store.state()
    assert store.count(everything()) == count
    assert store.stats()["versions"] == 2 * count
    assert (state.changes, state.touches) == (2 * count, count)
    assert sum(record.access_count for record in store.list(Filter(now=NOW + 1), None)) == count
    assert store.check() == []


def test_six_processes_write_one_space(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    written_by_all(url, ["one"], 2 * WRITES)
    with spaces.open("one") as store:
        check(store, 2 * WRITES)
    spaces.close()


def test_six_processes_write_twenty_spaces(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    names = [f"space-{number}" for number in range(SPACES)]
    written_by_all(url, names, 2)
    for name in names:
        with spaces.open(name) as store:
            check(store, 2)
    spaces.close()
