"""The campaigns: each takes a number of accidents and a seed, and returns the accidents that went wrong."""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw

import thinkback
from thinkback.errors import ThinkbackError
from thinkback.stores.sqlite import SqliteStore, schema
from thinkback.testing import FixedClock, ToyEmbedder

from disk import lay_out, recorded  # isort: skip
from script import NOW, State, held_by, steps, verdict  # isort: skip

Failures = list[str]
STEPS = 40
HANG_S = 60


def kills(count: int, seed: int, folder: Path) -> Failures:
    """Writers that are killed, or terminated, at any moment; the same file goes on until it has had twenty."""
    failures: Failures = []
    path, state = folder / "kills.db", {}
    for number in range(count):
        if number % 20 == 0:
            _remove(path)
            state = {}
        rng = random.Random(seed * 1_000_003 + number)
        story = list(steps(seed + number, STEPS, state))
        done = _killed_while_writing(path, story, rng)
        allowed = [state if at < 0 else story[at][1] for at in (done - 1, min(done, STEPS - 1))]
        wrong = verdict(str(path), allowed)
        if wrong:
            failures.append(f"kill {number} of seed {seed}: {wrong}")
            _remove(path)
        with SqliteStore(path) as store:
            state = held_by(store)
    return failures


def _killed_while_writing(path: Path, story: list[Any], rng: random.Random) -> int:
    """How many steps a forked writer acknowledged before it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with SqliteStore(path) as store:
                for work, _ in story:
                    work(store)
                    os.write(writing, b".")
        finally:
            os._exit(0)
    os.close(writing)
    wanted = rng.randrange(STEPS)
    done = len(os.read(reading, 1)) if wanted == 0 else 0
    while done < wanted and (said := os.read(reading, wanted - done)):
        done += len(said)
    time.sleep(rng.random() * 0.004)  # somewhere inside the next write
    os.kill(child, rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
    os.waitpid(child, 0)
    while said := os.read(reading, 4096):
        done += len(said)
    os.close(reading)
    return done


def killed_migrations(count: int, seed: int, folder: Path) -> Failures:
    """Upgrades of an older file that are killed; the next one finishes them."""
    failures: Failures = []
    old, path = folder / "old.db", folder / "migrating.db"
    state = _old_store(old, seed)
    for number in range(count):
        rng = random.Random(seed * 7 + number)
        _remove(path)
        shutil.copy(old, path)
        child = os.fork()
        if child == 0:
            try:
                SqliteStore(path).close()
            finally:
                os._exit(0)
        time.sleep(rng.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        wrong = verdict(str(path), [state])
        if wrong:
            failures.append(f"migration {number} of seed {seed}: {wrong}")
    return failures


def _old_store(path: Path, seed: int) -> State:
    """A file of the first version."""
    rng = random.Random(seed)
    said = (
        "shared note",
        "shared note",
        "das ist die geteilte Notiz und shared note",
    )  # a language that is stemmed by itself
    state = {f"m{number}": f"{said[number % 3]} {number} " * rng.choice([1, 30]) for number in range(200)}
    connection = apsw.Connection(str(path))
    schema.MIGRATIONS[0](connection)
    for seq, (id, text) in enumerate(state.items(), 1):
        connection.execute(
            "INSERT INTO memories (seq, id, text, kind, tier, priority, confidence, tags, metadata, created_at, updated_at, "
            "recorded_at, access_count, trust, embedded, changed) "
            "VALUES (?, ?, ?, 'note', 'semantic', 'P2', 0.5, '[]', '{}', ?, ?, ?, 0, 1.0, 0, 1)",
            (seq, id, text, NOW, NOW, NOW),
        )
        connection.execute("INSERT INTO fts (rowid, content, essence, tags) VALUES (?, ?, '', '')", (seq, text))
    connection.execute("UPDATE counters SET last_seq = 200, changes = 1")
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = 1")
    connection.close()
    return state


def power_cuts(count: int, seed: int, folder: Path) -> Failures:
    """Power cuts at any write, with sectors that arrived or did not; each recorded story has a hundred of them."""
    failures: Failures = []
    cut = folder / "cut"
    cut.mkdir(exist_ok=True)
    for story_number in range(-(-count // 100)):
        states, disk = _recorded_story(folder, seed + story_number)
        rng = random.Random(seed * 31 + story_number)
        for number in range(min(100, count - 100 * story_number)):
            at = rng.randrange(1, len(disk.events) + 1)
            acknowledged = sum(event[0] == "done" for event in disk.events[:at])
            lay_out(disk.image(at, rng), cut)
            made = any(event[0] == "made" for event in disk.events[:at])
            allowed = [states[acknowledged], states[min(acknowledged + 1, len(states) - 1)]]
            wrong = verdict(str(cut / "story.db"), allowed) if made else None
            if wrong:
                failures.append(f"cut {number} (event {at}) of story {seed + story_number}: {wrong}")
    return failures


def _recorded_story(folder: Path, seed: int) -> tuple[list[State], Any]:
    path = folder / "story.db"
    _remove(path)
    states: list[State] = [{}]
    with recorded() as disk, SqliteStore(path) as store:
        disk.note("made", "")
        for work, state in steps(seed, STEPS):
            work(store)
            disk.note("done", "")
            states.append(state)
    return states, disk


def failing_calls(count: int, seed: int, folder: Path) -> Failures:
    """Reads, writes, syncs and opens that fail, once or from then on; the disk is sound again afterwards."""
    failures: Failures = []
    path = folder / "failing.db"
    for number in range(count):
        rng = random.Random(seed * 101 + number)
        _remove(path)
        wrong = _with_a_failing_call(path, seed + number, rng)
        if wrong:
            failures.append(f"failing call {number} of seed {seed}: {wrong}")
    return failures


def _with_a_failing_call(path: Path, seed: int, rng: random.Random) -> str | None:
    held: State = {}
    with recorded() as disk:
        try:
            with SqliteStore(path, busy_timeout_s=0.2) as store:
                story = list(steps(seed, 12))
                for place, (work, state) in enumerate(story):
                    if place == 4:
                        disk.fail_at, disk.keeps_failing = disk.calls + rng.randrange(1, 60), rng.random() < 0.3
                    try:
                        work(store)
                    except ThinkbackError:
                        break
                    held = state
                disk.fail_at = None
                now = held_by(store)
                if now not in (held, state):
                    return f"after a failed write it holds {len(now)}, not {len(held)}"
                held = now
        except ThinkbackError:  # closing failed
            disk.fail_at = None
        except Exception as error:  # noqa: BLE001 - an error that is not ours is what is looked for
            disk.fail_at = None
            return f"{type(error).__name__}: {error}"
    return verdict(str(path), [held, state])


def damaged_files(count: int, seed: int, folder: Path) -> Failures:
    """Damaged files, log included: a typed error or an answer, never a crash, a hang, or an emptied file."""
    failures: Failures = []
    whole = folder / "whole.db"
    _remove(whole)
    with thinkback.open(whole, embedder=ToyEmbedder(), clock=FixedClock("2026-05-08")) as memory:
        made = memory.remember_many(
            [{"text": f"a note about subject {n} " * (1 + n % 9), "tags": ["x"]} for n in range(60)]
        )
        memory.link(made[0].id, made[1].id)
        memory.update(made[2].id, text="changed")
        memory.judge("subject", made[3].id)
        memory.tidy(dry_run=False)
        log = Path(f"{whole}-wal").read_bytes()
        data = whole.read_bytes()
    closed = whole.read_bytes()
    for first in range(0, count, 20):
        numbers = range(first, min(first + 20, count))
        said = _in_child(lambda out, numbers=numbers: _try_damaged(out, numbers, seed, folder, closed, (data, log)))
        failures += said
    return failures


def _try_damaged(
    out: Callable[[str], None], numbers: range, seed: int, folder: Path, closed: bytes, opened: tuple[bytes, bytes]
) -> None:
    for number in numbers:
        rng = random.Random(seed * 9_176 + number)
        path = folder / "damaged.db"
        _remove(path)
        out(f"?damage {number} of seed {seed} hung or crashed")
        if rng.random() < 0.3:
            main, log = (_hurt(part, rng) if rng.random() < 0.6 else part for part in opened)
            path.write_bytes(main)
            Path(f"{path}-wal").write_bytes(log)
        else:
            path.write_bytes(_hurt(closed, rng))
        size = path.stat().st_size + _size(Path(f"{path}-wal"))
        for name, wrong in _use(path):
            out(f"!damage {number} of seed {seed}: {name}: {wrong}")
        if size and not path.stat().st_size + _size(Path(f"{path}-wal")):
            out(f"!damage {number} of seed {seed}: the file was emptied")
        out("=")


def _hurt(data: bytes, rng: random.Random) -> bytes:
    copy = bytearray(data)
    kind = rng.choice(["bit", "bit", "bits", "page", "zeros", "cut", "swap"])
    page = rng.randrange(max(1, len(copy) // 8192)) * 8192
    if kind in ("bit", "bits"):
        for _ in range(1 if kind == "bit" else 64):
            copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
    elif kind == "page":
        copy[page : page + 8192] = rng.randbytes(8192)
    elif kind == "zeros":
        copy[page : page + 8192] = bytes(8192)
    elif kind == "cut":
        del copy[rng.randrange(len(copy)) :]
    else:
        other = rng.randrange(max(1, len(copy) // 8192)) * 8192
        copy[page : page + 8192], copy[other : other + 8192] = copy[other : other + 8192], copy[page : page + 8192]
    return bytes(copy)


def _use(path: Path) -> Iterator[tuple[str, str]]:
    """Everything one does with a store; what is not an error of ours."""
    try:
        memory = thinkback.open(path, embedder=ToyEmbedder(), clock=FixedClock("2026-05-09"))
    except ThinkbackError:
        return
    except BaseException as error:  # noqa: BLE001
        yield "open", repr(error)[:300]
        return
    uses: dict[str, Callable[[], object]] = {
        "list": lambda: memory.list(limit=1000, everything=True),
        "recall": lambda: list(memory.recall("a note about subject 7")),
        "keywords": lambda: memory.search_keywords("note"),
        "export": lambda: _drained(memory),
        "history": lambda: [memory.history(record.id) for record in memory.list(limit=5)],
        "stats": memory.stats,
        "audit": memory.audit,
        "judgements": memory.judgements,
        "journal": memory.journal,
        "check": memory.check,
        "remember": lambda: memory.remember("something new"),
        "update": lambda: memory.update(memory.list(limit=1)[0].id, text="changed again"),
        "forget": lambda: memory.forget_verified(memory.list(limit=1)[0].id),
        "tidy": lambda: memory.tidy(dry_run=False),
        "reflect": memory.reflect,
        "repair": memory.repair,
        "after": lambda: list(memory.recall("a note")),
        "close": memory.close,
    }
    for name, use in uses.items():
        try:
            use()
        except ThinkbackError:
            continue
        except IndexError as error:
            if "list index" not in str(error):  # there was no memory left to take
                yield name, repr(error)[:300]
        except BaseException as error:  # noqa: BLE001 - an error that is not ours is what is looked for
            yield name, repr(error)[:300]


def _drained(memory: thinkback.Memory) -> list[Any]:
    with memory.export(vectors=True) as snapshot:
        return list(snapshot.records)


def _in_child(work: Callable[[Callable[[str], None]], None]) -> Failures:
    """Run work in a child with a time limit; lines that begin with ! are failures, a last ? without = is a hang or a crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(HANG_S)
        try:
            work(lambda line: os.write(writing, f"{line}\n".encode()) and None)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
        said = lines.read().splitlines()
    os.waitpid(child, 0)
    failures = [line[1:] for line in said if line.startswith("!")]
    last = next((line for line in reversed(said) if line[0] in "?="), "=")
    return failures + ([last[1:]] if last != "=" else [])


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _remove(path: Path) -> None:
    for old in path.parent.glob(f"{path.name}*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
