"""A user's program; `test_user_program.py` runs mypy on it and compares the errors with the comments `# error: code`."""

from datetime import datetime

import thinkback


def write(memory: thinkback.Memory, thread: str | None) -> thinkback.Record:
    record = memory.remember("Oscar is a grey cat", kind="fact", tags=["pets"], importance=0.5)
    memory.remember("Oscar sleeps", thread=thread, valid_from=datetime(2026, 5, 8))
    memory.remember("Oscar sleeps", kind="fcat")  # error: call-overload
    memory.remember("Oscar sleeps", tgas=["pets"])  # error: call-overload
    memory.update(record.id, text="Oscar is a black cat", expires_at=None)
    memory.update(record.id, valid_to="2026-05-08", thread=None)
    memory.update(record.id, txt="Oscar is a black cat")  # error: call-arg
    memory.update(record.id, kind=None)  # error: arg-type
    memory.update(record.id, tier="for ever")  # error: arg-type
    memory.update(record.id, claim=0.5)  # error: call-arg
    return record


def read(memory: thinkback.Memory, since: thinkback.Moment | None) -> list[str]:
    found: thinkback.Recall = memory.recall("what is the cat called?", kinds=["fact"], since=since, limit=3)
    memory.recall("what is the cat called?", kinds=["fcat"])  # error: list-item
    memory.recall("what is the cat called?", kinds="fact", tags="pets")
    memory.list(kind=["fact"])  # error: arg-type
    memory.count(priorities=["P5"])  # error: list-item
    for hit in found:
        placed: tuple[thinkback.Placing, ...] = hit.placings
        created: datetime = hit.record.created_at
        print(hit.score, hit.txt, placed, created)  # error: attr-defined
    absent: thinkback.WhyNot = found.why_not("a")
    notices: tuple[thinkback.Notice, ...] = found.warnings
    print(absent.verdict, [notice.code for notice in notices])
    return [hit.text for hit in found]


def keep(memory: thinkback.Memory) -> None:
    forgotten: thinkback.Forgotten = memory.forget("a")
    receipt: thinkback.Receipt = memory.forget_verified("b")
    tidied: thinkback.Tidied = memory.tidy()
    edge: thinkback.Edge = memory.link("a", "b")
    print(forgotten.ids, receipt, tidied, edge.weigth)  # error: attr-defined


async def ask(memory: thinkback.AsyncMemory) -> None:
    await memory.remember("Oscar sleeps", kind="fact")
    await memory.remember("Oscar sleeps", kind="fcat")  # error: call-overload
    await memory.update("a", expires_at=None)
    await memory.update("a", txt="Oscar")  # error: call-arg


thinkback.typo()  # error: attr-defined
with thinkback.open("memory.db") as opened:
    write(opened, None)
