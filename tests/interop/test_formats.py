"""Files of other programs, in their own formats: counts, dates and text, and twice is once."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from codes import raises

import thinkback
from thinkback.clock import to_us
from thinkback.errors import InvalidFile, InvalidInput
from thinkback.interop.formats import FORMATS, detect, import_file
from thinkback.interop.markdown import export_markdown, properties
from thinkback.interop.mcp_memory import export_mcp
from thinkback.interop.streams import values
from thinkback.memory import Memory
from thinkback.testing import FixedClock


@pytest.fixture
def memory() -> Iterator[Memory]:
    with thinkback.open(":memory:", embedder=None, clock=FixedClock("2026-05-08")) as memory:
        yield memory


def write(path: Path, value: Any, lines: bool = False) -> Path:
    dumped = "\n".join(json.dumps(one) for one in value) if lines else json.dumps(value)
    path.write_text(dumped, encoding="utf-8")
    return path


def twice(memory: Memory, path: Path, format: str) -> Any:
    """Import, and again: the second time changes nothing."""
    assert detect(path) == format
    heard: list[tuple[int, int]] = []
    first = import_file(memory, path, format, progress=lambda done, total: heard.append((done, total)))
    before = memory.state()
    again = import_file(memory, path, format)
    assert (again.memories, again.links, again.updated, again.differing, memory.state()) == (0, 0, 0, 0, before)
    assert heard
    assert 0 < heard[-1][0] <= heard[-1][1]
    return first


def node(id: str, parent: str | None, role: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]} if text is not None else {"content_type": "code", "text": "x"}
    message = {
        "id": id,
        "author": {"role": role, "name": None},
        "create_time": 1700000000.5,
        "content": content,
        **more,
    }
    return {"id": id, "message": message, "parent": parent, "children": []}


CHATGPT = [
    {
        "title": "Cats",
        "create_time": 1699999999.0,
        "update_time": 1700000009.0,
        "conversation_id": "c1",
        "current_node": "a3",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
            "s": node("s", "root", "system", ""),
            "u1": node("u1", "s", "user", "My cat is called Oscar"),
            "a1": node("a1", "u1", "assistant", "An answer on a branch that was left"),
            "a2": node("a2", "u1", "assistant", "A fine name"),
            "t": node("t", "a2", "tool", "tool noise"),
            "code": node("code", "t", "assistant", None),
            "a3": node("a3", "code", "user", "He is grey"),
        },
    }
]
CLAUDE = [
    {
        "uuid": "k1",
        "name": "Dogs",
        "created_at": "2025-03-04T05:06:07.000000Z",
        "updated_at": "2025-03-04T06:06:07.000000Z",
        "account": {"uuid": "acc"},
        "chat_messages": [
            {
                "uuid": "h1",
                "text": "Rex is my dog",
                "content": [{"type": "text", "text": "Rex is my dog", "citations": []}],
                "sender": "human",
                "created_at": "2025-03-04T05:06:08.000000Z",
                "attachments": [],
                "files": [],
            },
            {
                "uuid": "b1",
                "text": "",
                "content": [{"type": "tool_use", "name": "f", "input": {}}, {"type": "text", "text": "Good dog"}],
                "sender": "assistant",
                "created_at": "2025-03-04T05:06:09.000000Z",
            },
            {"uuid": "b2", "text": "", "content": [], "sender": "assistant", "created_at": "2025-03-04T05:06:10Z"},
        ],
    }
]


def test_chatgpt(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "chatgpt.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("export/conversations.json", json.dumps(CHATGPT))
    assert twice(memory, path, "chatgpt").memories == 3
    said = sorted(memory.list(thread="chatgpt-c1"), key=lambda one: one.position or 0)
    assert [(one.speaker, one.text) for one in said] == [
        ("user", "My cat is called Oscar"),
        ("assistant", "A fine name"),
        ("user", "He is grey"),
    ]
    assert said[0].created_at.isoformat() == "2023-11-14T22:13:20.500000+00:00"
    assert said[0].metadata == {"title": "Cats"}


def test_claude(memory: Memory, tmp_path: Path) -> None:
    assert twice(memory, write(tmp_path / "conversations.json", CLAUDE), "claude").memories == 2
    said = sorted(memory.list(thread="claude-k1"), key=lambda one: one.position or 0)
    assert [(one.speaker, one.text) for one in said] == [("user", "Rex is my dog"), ("assistant", "Good dog")]
    assert said[1].created_at.isoformat() == "2025-03-04T05:06:09+00:00"


def test_mem0(memory: Memory, tmp_path: Path) -> None:
    one = {
        "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "memory": "Ann likes cats",
        "hash": "f9",
        "metadata": {"topic": "pets"},
        "created_at": "2025-02-26T23:18:08.931-08:00",
        "updated_at": None,
        "user_id": "ann",
        "categories": ["pets", "likes"],
    }
    report = twice(memory, write(tmp_path / "mem0.json", {"results": [one], "relations": []}), "mem0")
    (found,) = memory.list()
    assert (report.memories, found.text, found.user, found.tags) == (1, "Ann likes cats", "ann", ("pets", "likes"))
    assert found.created_at.isoformat() == "2025-02-27T07:18:08.931000+00:00"
    assert found.metadata == {"topic": "pets"}


def thought(id: str, text: str, **more: Any) -> dict[str, Any]:
    data = {"thought_id": id, "thought_type": "BELIEF", "essence": text[:5], "content": text, "priority": "P2"}
    times = {"created_at": "2025-01-02T03:04:05+00:00", "updated_at": "2025-01-03T03:04:05+00:00"}
    return {"_type": "thought", "data": {**data, **times, "confidence": 0.8, "access_count": 3, **more}}


def test_engrava(memory: Memory, tmp_path: Path) -> None:
    lines = [
        {"_type": "metadata", "schema_version": 9, "embedding_model_name": "m", "embedding_dimension": 4},
        thought("t1", "Oscar is a grey cat", metadata_json='{"a": 1}', updated_cycle=7),
        thought("t2", "Rex is a dog", thought_type="TASK", valid_until="2030-01-01T00:00:00+00:00"),
        {"_type": "edge", "data": {"edge_id": "e", "from_thought_id": "t1", "to_thought_id": "t2"} | _EDGE},
        {"_type": "embedding", "data": {"thought_id": "t1", "vector_blob": "AAAA"}},
    ]
    report = twice(memory, write(tmp_path / "snapshot.jsonl", lines, lines=True), "engrava")
    assert (report.memories, report.links) == (2, 1)
    one, two = memory.get("t1"), memory.get("t2")
    assert (one.kind, one.priority, one.confidence, one.cycle, one.access_count) == ("fact", "P2", 0.8, 7, 3)
    assert (one.essence, one.metadata["a"], two.kind) == ("Oscar", 1, "task")
    assert one.created_at.isoformat() == "2025-01-02T03:04:05+00:00"
    assert (two.valid_to or one.created_at).year == 2030
    assert [(edge.to_id, edge.kind, edge.weight) for edge in memory.neighbours("t1")] == [("t2", "associated", 0.5)]


_EDGE = {"edge_type": "ASSOCIATED", "weight": 0.5}
MCP = [
    {"type": "relation", "from": "Ann", "to": "Oscar", "relationType": "owns"},
    {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["bakes bread", "lives in Bergen"]},
    {"type": "entity", "name": "Oscar", "entityType": "cat", "observations": []},
]


def test_the_mcp_reference_memory_there_and_back(memory: Memory, tmp_path: Path) -> None:
    report = twice(memory, write(tmp_path / "memory.jsonl", MCP, lines=True), "mcp")
    assert (report.memories, report.links) == (4, 3)
    assert memory.recall("bakes bread")[0].text == "bakes bread"
    back = [json.loads(line) for line in export_mcp(memory)]
    assert sorted(back, key=str) == sorted(MCP, key=str)


def test_other_memories_are_observations_of_their_thread(memory: Memory) -> None:
    a = memory.remember("first", thread="t")
    memory.remember("second", thread="t")
    b = memory.remember("alone")
    memory.link(a.id, b.id, "caused")
    assert [json.loads(line) for line in export_mcp(memory)] == [
        {"type": "entity", "name": "t", "entityType": "thread", "observations": ["first", "second"]},
        {"type": "entity", "name": "memories", "entityType": "memory", "observations": ["alone"]},
        {"type": "relation", "from": "t", "to": "memories", "relationType": "caused"},
    ]


def test_a_langgraph_store(memory: Memory, tmp_path: Path) -> None:
    item = {
        "namespace": ["users", "ann"],
        "key": "cat",
        "value": {"text": "Oscar is a grey cat", "n": 7},
        "created_at": "2025-01-02T03:04:05+00:00",
        "updated_at": "2025-01-02T03:04:05+00:00",
    }
    assert twice(memory, write(tmp_path / "items.json", [item]), "langgraph").memories == 1
    (found,) = memory.list(where={"metadata.path": "users.ann.", "metadata.value.n": {"gt": 6}})
    assert (found.text, found.created_at.year) == ("Oscar is a grey cat", 2025)


def test_plain_chats(memory: Memory, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    assert twice(memory, write(tmp_path / "a.json", messages), "chat").memories == 2
    assert twice(memory, write(tmp_path / "b.jsonl", [{"messages": messages, "id": "x"}], True), "chat").memories == 2
    assert [one.speaker for one in sorted(memory.list(thread="x"), key=lambda m: m.position or 0)] == [
        "user",
        "assistant",
    ]


def test_a_chat_is_read_like_what_is_remembered(memory: Memory, tmp_path: Path) -> None:
    """Its instructions are preferences, and the times it tells of are known."""
    messages = [
        {"role": "user", "content": "Always answer in French", "created_at": "2023-08-09T15:00:00Z"},
        {"role": "assistant", "content": "Always a pleasure", "created_at": "2023-08-09T15:00:00Z"},
        {"role": "user", "content": "Last weekend we went to the lake", "created_at": "2023-08-09T15:00:00Z"},
    ]
    twice(memory, write(tmp_path / "b.jsonl", [{"messages": messages, "id": "x"}], True), "chat")
    rule, thanks, lake = sorted(memory.list(thread="x"), key=lambda one: one.position or 0)
    assert lake.about_from is not None
    assert lake.about_from.isoformat()[:10] == "2023-08-05"
    assert (rule.kind, thanks.kind, lake.kind) == ("preference", "observation", "observation")
    memory.update(rule.id, kind="observation")  # a correction is no difference to the file
    assert import_file(memory, tmp_path / "b.jsonl", "chat").differing == 0


def test_an_obsidian_vault(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "x.md").write_text("settings")
    (vault / "Oscar.md").write_text(
        "---\ntags: [pets, cats]\ncreated: 2024-05-06\n---\nOscar is grey. #fluffy\n\n## Food\nHe eats what [[Ann|she]] brings.\n"
    )
    (vault / "Ann.md").write_text("Ann lives in Bergen with [[Oscar]] and [[Nobody]].\n")
    report = twice(memory, vault, "obsidian")
    assert (report.memories, report.links) == (3, 2)
    by_text = {one.text.split("\n")[0]: one for one in memory.list()}
    oscar = by_text["Oscar is grey. #fluffy"]
    assert (oscar.tags, oscar.created_at.date().isoformat()) == (("pets", "cats", "fluffy"), "2024-05-06")
    assert by_text["Food"].essence == "Oscar › Food"
    assert {edge.other(oscar.id) for edge in memory.neighbours(oscar.id)} == {
        by_text["Ann lives in Bergen with [[Oscar]] and [[Nobody]]."].id
    }


def test_basic_memory(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "coffee.md").write_text(
        "---\ntitle: Coffee Brewing\ntype: note\npermalink: coffee-brewing\ntags:\n- coffee\n- brewing\n---\n\n"
        "# Coffee Brewing\n\nHow to brew.\n\n## Observations\n- [method] Pour over brings clarity #filter (tried twice)\n"
        "- [ ] buy beans\n\n## Relations\n- relates to [[Tea]]\n- [[Tea]]\n"
    )
    (folder / "tea.md").write_text("---\ntitle: Tea\npermalink: tea\n---\n\n# Tea\nLeaves.\n")
    report = twice(memory, folder, "basic-memory")
    texts = {one.text for one in memory.list()}
    assert "Pour over brings clarity #filter (tried twice)" in texts
    fact = memory.recall("clarity", kind="fact")[0].record
    assert (fact.tags, fact.metadata) == (("method", "filter"), {"note": "Coffee Brewing", "category": "method"})
    assert (report.memories, report.links) == (4, 2)
    kinds = {edge.kind for one in memory.list() for edge in memory.neighbours(one.id)}
    assert kinds == {"about", "relates_to"}


def test_properties_of_a_front_matter() -> None:
    assert properties("a: 1\ntags:\n  - x\n  - 'y z'\nb: [p, \"q\"]\nempty:\n") == {
        "a": "1",
        "tags": ["x", "y z"],
        "b": ["p", "q"],
    }


def test_markdown_out(memory: Memory) -> None:
    memory.remember("first\nline", thread="t", speaker="user", tags=["big cat"], created_at="2026-01-02")
    memory.remember("alone", created_at="2026-01-03")
    assert "\n".join(export_markdown(memory)) == (
        "# Memories\n\n## Without a thread\n\n- 2026-01-03 alone\n\n## t\n\n- 2026-01-02 **user:** first\n  line #big-cat"
    )


def test_values_are_streamed_in_steps(tmp_path: Path) -> None:
    many = [{"n": n, "text": "x" * (n * 37 % 5000)} for n in range(200)] + [{"n": 200, "text": "y" * 300_000}]
    for path in (
        write(tmp_path / "array.json", many),
        write(tmp_path / "under.json", {"results": many, "more": 1}),
        write(tmp_path / "lines.jsonl", many, lines=True),
    ):
        assert list(values(path)) == many
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps(many, indent=2))
    assert list(values(pretty)) == many
    (tmp_path / "cut.json").write_text('[{"n": 1}, {"n"')
    with raises(InvalidInput, "not_json"):
        list(values(tmp_path / "cut.json"))


def test_a_bad_value_fails_it_all_or_is_left_out(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "mem0.json", [{"id": "a", "memory": "one"}, {"id": "b"}, {"id": "c", "memory": ["x"]}])
    with raises(InvalidInput, "bad_line"):
        import_file(memory, path, "mem0")
    assert memory.count() == 0
    report = import_file(memory, path, "mem0", skip_bad=True)
    assert (report.memories, [bad.line for bad in report.bad]) == (1, [2, 3])
    with raises(InvalidInput, "unknown_format"):
        import_file(memory, path, "mem1")
    with raises(InvalidFile, "unknown_format"):
        import_file(memory, path, "obsidian")
    assert detect(write(tmp_path / "ours.jsonl", [{"text": "x"}], lines=True)) == "thinkback"
    assert all(format.about for format in FORMATS.values())
    assert to_us("2026-05-08") == memory.clock()


def test_a_folder_that_is_called_basic_memory_is_read_so_without_permalinks(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "cat.md").write_text("# Cat\n\n- [fact] Oscar is grey #cats\n- lives_with [[Ann]]\n")
    (folder / "Ann.md").write_text("# Ann\n\nowns Oscar\n")
    import_file(memory, folder, "basic-memory")
    assert {record.text for record in memory.list(kinds=["fact"])} == {"Oscar is grey #cats"}
    assert "lives_with" in {
        edge.kind for edges in memory.links([r.id for r in memory.list()]).values() for edge in edges
    }


def test_links_between_memories_of_no_thread_are_no_relations(memory: Memory) -> None:
    memory.remember_many([{"text": "a", "id": "a"}, {"text": "b", "id": "b"}, {"text": "c", "id": "c", "thread": "t"}])
    memory.link("a", "b")
    memory.link("a", "c")
    relations = [line for line in map(json.loads, export_mcp(memory)) if line["type"] == "relation"]
    assert [(one["from"], one["to"]) for one in relations] == [("memories", "t")]
