"""A client session in the same process: every tool, resource and the prompt."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation

import thinkback
from thinkback.apps.mcp.server import PROGRAMS, build
from thinkback.apps.mcp.stdio import ALL_SCOPES, READ_SCOPES, OneMemory
from thinkback.clock import DAY
from thinkback.fields import FILTERS
from thinkback.memory import Memory
from thinkback.search.selection import tokens
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock, ToyEmbedder

from envelopes import read  # isort: skip


def session(memory: Memory, work: Callable[[Client], Awaitable[Any]], scopes: frozenset[str] = ALL_SCOPES) -> Any:
    async def run() -> Any:
        async with Client(build(OneMemory(memory, scopes))) as client:
            try:
                return await work(client)
            except MCPError as error:  # raised past the task group, it would come out as a group
                return error

    answer = anyio.run(run)
    if isinstance(answer, MCPError):
        raise answer
    return answer


def call(memory: Memory, name: str, arguments: dict[str, Any]) -> Any:
    async def work(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    return session(memory, work)


def test_the_surface_is_small_and_says_what_it_does(memory: Memory) -> None:
    listed = session(memory, lambda client: client.list_tools()).tools
    hints = {tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint) for tool in listed}
    assert hints == {
        "recall": (True, None),
        "search_keywords": (True, None),
        "remember": (None, False),
        "update": (None, False),
        "forget": (None, None),  # which a client takes for destructive
        "link": (None, False),
        "reflect": (None, False),
    }
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in listed)


def test_the_list_of_tools_costs_little(memory: Memory) -> None:
    listed = session(memory, lambda client: client.list_tools())
    assert tokens(listed.model_dump_json(by_alias=True, exclude_none=True)) <= 1500


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_an_answer_costs_at_most_twice_its_memories(memory: Memory, limit: int) -> None:
    memory.remember_many(
        f"Lena ordered {n} sacks of rye flour from the mill in Hamar for the bakery; they come on Thursday"
        for n in range(9)
    )
    answer = call(memory, "recall", {"query": "rye flour from the mill", "limit": limit})
    own = [one["text"] for one in answer.meta[PROGRAMS]["memories"]]
    assert len(own) == limit
    assert tokens(answer.content[0].text) <= 2 * sum(map(tokens, own))
    assert answer.structured_content is None, "clients may show it to a model instead of the quotation"


def test_a_connector_is_offered_search_and_fetch(memory: Memory) -> None:
    async def listed(name: str) -> set[str]:
        info = Implementation(name=name, version="1")
        async with Client(build(OneMemory(memory)), client_info=info) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert anyio.run(listed, "openai-mcp") - anyio.run(listed, "claude-code") == {"search", "fetch"}


def test_a_short_id_names_a_memory(memory: Memory) -> None:
    record = memory.remember("Oscar is a cat")
    assert call(memory, "fetch", {"id": record.id[-6:]}).structured_content["id"] == record.id
    changed = call(memory, "update", {"id": record.id[-6:], "text": "Oscar is a dog"}).meta[PROGRAMS]
    assert changed["id"] == record.id
    mine = memory.remember("Rex is a dog", id=record.id[-6:])
    assert memory.whole_ids([record.id[-6:]]) == [mine.id], "an id of one's own wins"
    call(memory, "forget", {"ids": [mine.id]})
    assert call(memory, "forget", {"ids": [record.id[-6:]]}).meta[PROGRAMS]["forgotten"] == [record.id]


def test_a_short_id_of_two_memories_is_refused(memory: Memory) -> None:
    for letter in "AB":
        memory.remember("twin", id=f"{letter * 20}TTTTTT")
    answer = call(memory, "forget", {"ids": ["TTTTTT"]})
    assert answer.is_error
    assert "A" * 20 in answer.content[0].text
    assert memory.count() == 2


def test_the_client_may_state_the_conversation(memory: Memory) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool(
            "remember", {"text": "Oscar is a cat"}, meta={"openai/session": "chat-7", "thinkback/user": "ada"}
        )

    stored = memory.get(session(memory, work).meta[PROGRAMS]["id"])
    assert (stored.thread, stored.user) == ("chat-7", "ada")


def test_the_guide_describes_what_the_schemas_leave_out(memory: Memory) -> None:
    text = session(memory, lambda client: client.read_resource("thinkback://guide")).contents[0].text
    assert all(f"- {row.name}: " in text for row in FILTERS)


def test_read_only_offers_only_what_reads(memory: Memory) -> None:
    listed = session(memory, lambda client: client.list_tools(), READ_SCOPES).tools
    assert [tool.name for tool in listed] == ["recall", "search_keywords"]


@pytest.mark.parametrize("name", ["remember", "forget", "link", "reflect"])
def test_read_only_refuses_what_writes(memory: Memory, name: str) -> None:
    with pytest.raises(MCPError, match="there is no tool"):
        session(memory, lambda client: client.call_tool(name, {}), READ_SCOPES)


def test_remember_then_recall(memory: Memory) -> None:
    stored = call(
        memory,
        "remember",
        {"text": "Caroline adopted a grey cat, Oscar", "tags": ["pets"], "fields": {"thread": "chat-7"}},
    )
    id = stored.meta[PROGRAMS]["id"]
    assert stored.meta[PROGRAMS]["embedded"] is True
    found = call(memory, "recall", {"query": "what is Caroline's cat called?", "filter": {"tags": ["pets"]}}).meta[
        PROGRAMS
    ]
    assert [(m["id"], m["text"], m["rank"]) for m in found["memories"]] == [
        (id, "Caroline adopted a grey cat, Oscar", 1)
    ]
    assert memory.get(id).source == "mcp:mcp"


def test_recall_explains_when_asked(memory: Memory) -> None:
    memory.remember("Oscar is a grey cat")
    found = call(memory, "recall", {"query": "grey cat", "change": {"explain": True}})
    expected = memory.recall("grey cat", limit=8)[0].why()
    assert found.meta[PROGRAMS]["memories"][0]["why"] == expected
    assert expected in found.content[0].text


def texts(memory: Memory, query: str, **filter: Any) -> list[str]:
    return [
        one["text"] for one in call(memory, "recall", {"query": query, "filter": filter}).meta[PROGRAMS]["memories"]
    ]


def test_a_correction_keeps_what_was_known_before(memory: Memory) -> None:
    record = memory.remember("Oscar is a black cat", tags=["pets"], source="diary")
    memory.clock.advance(DAY)  # type: ignore[attr-defined]
    answer = call(memory, "update", {"id": record.id, "text": "Oscar is a grey cat", "tags": ["pets", "oscar"]})
    assert answer.meta[PROGRAMS] == {
        "id": record.id,
        "changed": ["text", "tags"],
        "kept": True,
        "embedded": True,
        "warnings": [],
    }
    assert "the previous version is kept" in answer.content[0].text
    now = memory.get(record.id)
    assert (now.text, now.tags, now.source) == ("Oscar is a grey cat", ("pets", "oscar"), "diary")
    assert texts(memory, "Oscar the cat") == ["Oscar is a grey cat"]
    assert texts(memory, "Oscar the cat", known_at="2026-05-08T12:00:00Z") == ["Oscar is a black cat"]
    assert [version.text for version in memory.history(record.id)] == ["Oscar is a black cat", "Oscar is a grey cat"]


def test_a_fact_that_ended_is_found_as_of_its_time_and_among_everything(memory: Memory) -> None:
    record = memory.remember("Caroline lives in Oslo", valid_from="2020-01-01")
    call(memory, "update", {"id": record.id, "fields": {"valid_to": "2024-06-01"}})
    assert texts(memory, "where does Caroline live") == []
    assert texts(memory, "where does Caroline live", as_of="2023-01-01") == ["Caroline lives in Oslo"]
    assert texts(memory, "where does Caroline live", everything=True) == ["Caroline lives in Oslo"]
    found = call(memory, "search_keywords", {"query": "Caroline", "filter": {"as_of": "2023-01-01"}}).meta[PROGRAMS]
    assert len(found["memories"]) == 1
    call(memory, "update", {"id": record.id, "fields": {"valid_to": ""}})
    assert texts(memory, "where does Caroline live") == ["Caroline lives in Oslo"]


def test_null_leaves_a_field_alone_and_importance_changes_in_place(memory: Memory) -> None:
    record = memory.remember("Oscar is a cat", tags=["pets"])
    arguments = {"id": record.id, "text": None, "tags": None, "fields": {"valid_to": None, "importance": 0.9}}
    answer = call(memory, "update", arguments)
    assert (answer.meta[PROGRAMS]["changed"], answer.meta[PROGRAMS]["kept"]) == (["importance"], False)
    assert "kept" not in answer.content[0].text
    now = memory.get(record.id)
    assert (now.text, now.tags, now.importance) == ("Oscar is a cat", ("pets",), 0.9)
    call(memory, "update", {"id": record.id, "tags": []})
    assert memory.get(record.id).tags == ()


def test_a_link_may_weigh_more_than_one(memory: Memory) -> None:
    first, second = (record.id for record in memory.remember_many(["Oscar is a cat", "Rex is a dog"]))
    linked = call(memory, "link", {"from_id": first, "to_id": second, "weight": 7.5})
    assert linked.meta[PROGRAMS]["link"]["weight"] == 7.5


def test_what_does_not_fit_is_counted(memory: Memory) -> None:
    memory.remember_many(["grey cat one " * 40, "grey cat two " * 40])  # 520 characters, 130 tokens each
    found = call(memory, "recall", {"query": "grey cat", "max_tokens": 150}).meta[PROGRAMS]
    assert (len(found["memories"]), found["left_out"]) == (1, 1)


def test_link_forget_search_fetch(memory: Memory) -> None:
    first, second = (record.id for record in memory.remember_many(["Oscar is a cat", "Rex is a dog"]))
    linked = call(memory, "link", {"from_id": first, "to_id": second, "kind": "fears", "weight": 0.5})
    assert linked.meta[PROGRAMS]["link"]["kind"] == "fears"
    assert [edge.kind for edge in memory.neighbours(first)] == ["fears"]
    results = call(memory, "search", {"query": "dog"})
    assert json.loads(results.content[0].text) == results.structured_content
    assert results.structured_content["results"][0] == {
        "id": second,
        "title": "Rex is a dog",
        "url": f"thinkback://memory/{second}",
    }
    fetched = call(memory, "fetch", {"id": second}).structured_content
    assert (fetched["text"], fetched["metadata"]["date"]) == ("Rex is a dog", "2026-05-08")
    gone = call(memory, "forget", {"ids": [second, "nothing", second]}).meta[PROGRAMS]
    assert (gone["forgotten"], gone["unknown"], gone["warnings"]) == ([second], ["nothing"], [])
    assert memory.count() == 1


def test_recall_says_which_older_value_a_memory_seems_to_replace(memory: Memory) -> None:
    memory.remember("The response time of the checkout is 800 ms", id="old", created_at="2026-03-01")
    memory.remember("The response time of the checkout is now 250 ms", id="new", created_at="2026-04-01")
    answer = call(memory, "recall", {"query": "what is the response time of the checkout now?"})
    first = answer.meta[PROGRAMS]["memories"][0]
    assert (first["id"], first["supersedes"]) == ("new", ["old"])
    assert "new seems to supersede old" in answer.content[0].text
    contested = call(memory, "link", {"from_id": "new", "to_id": "old", "kind": "contests"})
    assert contested.meta[PROGRAMS]["link"]["kind"] == "contested_by"
    assert memory.get("old").valid_to is None
    assert (
        "both are kept"
        in call(memory, "link", {"from_id": "new", "to_id": "old", "kind": "supersedes"}).content[0].text
    )
    assert memory.get("old").valid_to == memory.get("new").date
    assert [edge.kind for edge in memory.neighbours("old")] == ["contested_by"]


def test_a_theme_is_told_in_words_and_not_as_data(memory: Memory) -> None:
    memory.remember_many(f"the grey cat Oscar sleeps on chair {n}" for n in range(5))
    memory.remember(
        '{"member_ids": ["x", "y"], "keywords": ["cat"]}', essence="grey cat", kind="reflection", id="theme"
    )
    answer = call(memory, "recall", {"query": "grey cat", "filter": {"kinds": ["reflection"]}})
    assert [one["text"] for one in answer.meta[PROGRAMS]["memories"]] == ["grey cat"]
    assert "member_ids" not in answer.content[0].text


def test_reflect_writes_a_reflection_on_a_theme(memory: Memory) -> None:
    memory.remember_many([f"the grey cat Oscar sleeps on the warm sofa in room {number}" for number in range(4)])
    planned = call(memory, "reflect", {"dry_run": True}).meta[PROGRAMS]
    assert (planned["dry_run"], memory.count(kinds=["reflection"])) == (True, 0)
    done = call(memory, "reflect", {}).meta[PROGRAMS]
    assert len(done["themes"]) == len(done["created"]) == memory.count(kinds=["reflection"]) == 1
    assert len(done["themes"][0]["members"]) == 4
    again = call(memory, "reflect", {}).meta[PROGRAMS]
    assert again["created"] == []


def test_forget_tells_of_themes_and_of_what_is_left_in_the_files(memory: Memory, tmp_path: Path) -> None:
    memory.remember_many(
        {"id": f"m{n}", "text": f"the grey cat Oscar sleeps on the sofa in room {n}"} for n in range(4)
    )
    memory.reflect()
    with SqliteStore(tmp_path / "memory.db") as other:
        reading = other.export_records()
        next(reading)
        answer = call(memory, "forget", {"ids": ["m0"]})
        reading.close()
    gone = answer.meta[PROGRAMS]
    assert (len(gone["reflections"]), len(gone["rebuilt"]), len(gone["warnings"])) == (1, 1, 1)
    text = answer.content[0].text
    assert text.startswith("Forgot 1. Themes: 1 written anew. Warning: ")
    assert text.endswith("thinkback doctor --repair")


def test_keywords_take_the_whole_syntax(memory: Memory) -> None:
    memory.remember_many(["Oscar is a grey cat", "the cat is grey, says Oscar"])
    found = call(memory, "search_keywords", {"query": '"grey cat"'}).meta[PROGRAMS]
    assert [m["text"] for m in found["memories"]] == ["Oscar is a grey cat"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("recall", {}, "query: Field required"),
        ("recall", {"query": "x", "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ("recall", {"query": "x", "limt": 3}, "unknown field 'limt'; known: query, limit, filter,"),
        ("recall", {"query": "x", "limt": 3}, "Did you mean 'limit'?"),
        ("recall", {"query": "x", "filter": {"as_of": "once"}}, "not a time"),
        ("recall", {"query": "x", "change": {"recipe": "defualt"}}, "Did you mean 'default'?"),
        ("recall", {"query": "x", "change": {"recipe": "/etc/recipe.toml"}}, "unknown recipe"),
        ("recall", {"query": "x", "filter": {"since": "yesterday-ish"}}, "not a time"),
        ("recall", {"query": "x", "filter": {"tagz": "pets"}}, "no field 'tagz'"),
        ("recall", {"query": "x", "change": {"recipie": "default"}}, "Did you mean 'recipe'?"),
        (
            "recall",
            {"query": "x", "change": {"overrides": {"reranker.model": "/etc"}}},
            "cannot be changed in a request",
        ),
        ("remember", {"text": "x", "fields": {"trust": 1}}, "unknown field 'trust'"),
        ("remember", {"text": " "}, "text is empty"),
        ("remember", {"text": "x", "kind": "fcat"}, "unknown kind"),
        ("remember", {"text": "x" * 200_001}, "text: String should have at most 200000 characters"),
        ("update", {"id": "a", "text": "b"}, "there is no memory 'a'. recall and search find ids"),
        ("update", {"id": "a"}, "no change was given; give one of text, tags,"),
        ("update", {"id": "a", "text": None}, "no change was given"),
        ("update", {"id": "a", "text": "x" * 200_001}, "text: String should have at most 200000 characters"),
        (
            "update",
            {"id": "a", "fields": {"importance": 2}},
            "fields.importance: Input should be less than or equal to 1",
        ),
        ("fetch", {"id": "absent\x1b[2J"}, "there is no memory"),
        ("fetch", {"id": "absent"}, "recall and search find ids"),
        ("link", {"from_id": "a", "to_id": "b", "weight": -1}, "weight: Input should be greater than or equal to 0"),
        ("forget", {"ids": []}, "give ids, or a condition in where"),
        ("forget", {"where": {"usr": "ann"}}, "Did you mean 'user'?"),
        ("forget", {"where": {"user": "me"}}, "the client does not state its user"),
        ("remember", {"text": "x", "fields": {"store": "user"}}, "this server has one store"),
        ("link", {"from_id": "a", "to_id": "b"}, "there is no memory 'a'"),
    ],
)
def test_a_mistake_is_explained_to_the_model(memory: Memory, name: str, arguments: dict[str, Any], says: str) -> None:
    answer = call(memory, name, arguments)
    assert answer.is_error
    assert says in answer.content[0].text
    assert "\x1b" not in answer.content[0].text


def test_an_unknown_tool_is_a_protocol_error(memory: Memory) -> None:
    with pytest.raises(MCPError, match="there is no tool 'rm'"):
        call(memory, "rm", {})


def test_resources(memory: Memory) -> None:
    record = memory.remember("Oscar is a cat", id="pets/oscar 1", source="diary")

    async def work(client: Client) -> Any:
        templates = await client.list_resource_templates()
        listed = await client.list_resources()
        one = await client.read_resource("thinkback://memory/pets%2Foscar%201")
        stats = await client.read_resource("thinkback://stats")
        return templates, listed, one, stats

    templates, listed, one, stats = session(memory, work)
    assert [t.uri_template for t in templates.resource_templates] == ["thinkback://memory/{id}"]
    assert [r.uri for r in listed.resources] == ["thinkback://stats", "thinkback://guide"]
    assert "| Oscar is a cat" in one.contents[0].text
    assert '"source": "diary"' in one.contents[0].text
    assert json.loads(stats.contents[0].text)["memories"] == 1
    assert record.id == "pets/oscar 1"


@pytest.mark.parametrize("address", ["thinkback://memory/absent", "thinkback://other", "file:///etc/passwd"])
def test_an_unknown_resource_is_an_error(memory: Memory, address: str) -> None:
    with pytest.raises(MCPError, match="there is no"):
        session(memory, lambda client: client.read_resource(address))


def prompt(memory: Memory, arguments: dict[str, str]) -> str:
    answer = session(memory, lambda client: client.get_prompt("brief", arguments))
    return str(answer.messages[0].content.text)


def test_the_briefing_is_about_its_topic(memory: Memory) -> None:
    memory.remember_many(["Oscar is a grey cat", "The rent is due on Friday"])
    text = prompt(memory, {"topic": "grey cat"})
    assert "| Oscar is a grey cat" in text


def test_without_a_topic_what_always_holds_comes_first(memory: Memory) -> None:
    memory.remember("Answer in French", kind="preference")
    memory.remember("Never deploy on Fridays", priority="P1")
    memory.remember("The build was green")
    quoted = [line for line in prompt(memory, {}).splitlines() if line.startswith("| ")]
    assert quoted == ["| Never deploy on Fridays", "| Answer in French", "| The build was green"]


@pytest.mark.parametrize("budget", [100, 150, 300, 1000])
def test_the_briefing_keeps_to_its_budget(memory: Memory, budget: int) -> None:
    memory.remember_many([f"memory number {n}: " + "some words to fill it " * (n % 7) for n in range(60)])
    text = prompt(memory, {"max_tokens": str(budget)})
    assert tokens(text) <= budget
    assert ("| memory number" in text) == (budget >= 150)


@pytest.mark.parametrize("written", ["0", "-5", "many", "99999999999", "１０００"])
def test_a_budget_is_a_number(memory: Memory, written: str) -> None:
    with pytest.raises(MCPError, match="max_tokens must be a number"):
        prompt(memory, {"max_tokens": written})


def test_an_unknown_prompt_is_an_error(memory: Memory) -> None:
    with pytest.raises(MCPError, match="there is no prompt 'jailbreak'"):
        session(memory, lambda client: client.get_prompt("jailbreak", {}))


def test_a_secret_is_warned_of_and_not_repeated(memory: Memory) -> None:
    key = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    stored = call(memory, "remember", {"text": f"the token is {key}"})
    assert "Warning: likely secrets were stored" in stored.content[0].text
    changed = call(memory, "update", {"id": stored.meta[PROGRAMS]["id"], "text": f"now {key}x"})
    assert len(changed.meta[PROGRAMS]["warnings"]) == 1
    assert key[:8] not in repr((stored, changed))


def test_filters_take_operators(memory: Memory) -> None:
    for n in (5, 6, 7):
        memory.remember(f"cat {n}", id=str(n), metadata={"n": n})
    answer = call(
        memory, "recall", {"query": "cat", "filter": {"where": {"or": [{"metadata.n": {"gt": 6}}, {"metadata.n": 5}]}}}
    )
    text = answer.content[0].text
    assert ["cat 5" in text, "cat 6" in text, "cat 7" in text] == [True, False, True]
    assert call(memory, "recall", {"query": "cat", "filter": {"metadata": {"n": {"gtt": 6}}}}).is_error


def test_forget_by_a_condition_shows_what_would_go_first(memory: Memory) -> None:
    memory.remember_many({"text": f"draft {n}", "id": f"d{n}", "thread": "old"} for n in range(12))
    memory.remember("Oscar is a cat", id="cat")
    planned = call(memory, "forget", {"where": {"thread": "old"}})
    assert len(planned.meta[PROGRAMS]["forgotten"]) == 12
    assert planned.meta[PROGRAMS]["dry_run"]
    assert len(read(planned.content[0].text.partition("\n")[2])) == 10
    assert memory.count() == 13
    done = call(memory, "forget", {"where": {"thread": "old"}, "dry_run": False})
    assert done.content[0].text == "Forgot 12."
    assert [record.id for record in memory.list()] == ["cat"]
    assert call(memory, "forget", {"ids": ["cat"], "dry_run": True}).meta[PROGRAMS]["dry_run"]
    assert memory.count() == 1


def test_an_empty_value_of_a_condition_does_not_widen_it(memory: Memory) -> None:
    memory.remember("Oscar is a cat", tags=["pets"])
    answer = call(memory, "forget", {"where": {"tags": ["pets"], "user": ""}, "dry_run": False})
    assert answer.is_error or answer.meta[PROGRAMS]["forgotten"] == []
    assert memory.count() == 1


def test_a_search_may_be_limited_to_the_user_that_the_client_states(memory: Memory) -> None:
    async def work(client: Client) -> Any:
        for name in ("ada", "ben"):
            await client.call_tool("remember", {"text": f"{name} owns a cat"}, meta={"thinkback/user": name})
        asked = {"query": "who owns a cat?", "filter": {"user": "me"}}
        mine = await client.call_tool("recall", asked, meta={"thinkback/user": "ada"})
        every = await client.call_tool("recall", {"query": "who owns a cat?"}, meta={"thinkback/user": "ada"})
        gone = await client.call_tool("forget", {"where": {"user": "me"}}, meta={"thinkback/user": "ben"})
        return mine, every, gone

    mine, every, gone = session(memory, work)
    assert [one["user"] for one in mine.meta[PROGRAMS]["memories"]] == ["ada"]
    assert {one["user"] for one in every.meta[PROGRAMS]["memories"]} == {"ada", "ben"}
    assert len(gone.meta[PROGRAMS]["forgotten"]) == 1


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Memory]:
    with thinkback.open(
        tmp_path / "user.db", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08")
    ) as opened:
        yield opened


def call_both(memory: Memory, beside: Memory, name: str, arguments: dict[str, Any]) -> Any:
    async def run() -> Any:
        async with Client(build(OneMemory(memory, beside=beside))) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(run)


def test_the_stores_of_the_repository_and_of_the_user_are_searched_together(memory: Memory, beside: Memory) -> None:
    memory.remember("the tests of this project run with make check", id="here")
    beside.remember("Ann runs tests with two workers", id="mine")
    for tool in ("recall", "search_keywords"):
        answer = call_both(memory, beside, tool, {"query": "tests"})
        found = answer.meta[PROGRAMS]["memories"]
        assert {(one["id"], one["store"]) for one in found} == {("here", "repository"), ("mine", "user")}
        assert [one["rank"] for one in found] == [1, 2]
        headings = dict(read(answer.content[0].text))
        assert headings["Ann runs tests with two workers"] == '"mine" 2026-05-08 user'
    one = call_both(memory, beside, "recall", {"query": "tests", "limit": 1})
    assert len(one.meta[PROGRAMS]["memories"]) == 1
    small = call_both(memory, beside, "recall", {"query": "tests", "max_tokens": 12})
    assert (len(small.meta[PROGRAMS]["memories"]), small.meta[PROGRAMS]["left_out"]) == (1, 1)


def test_a_memory_is_changed_in_the_store_that_has_it(memory: Memory, beside: Memory) -> None:
    here = memory.remember("make check runs the tests").id
    stored = call_both(memory, beside, "remember", {"text": "Ann likes tabs", "fields": {"store": "user"}})
    mine = stored.meta[PROGRAMS]["id"]
    assert (beside.count(), memory.count()) == (1, 1)
    call_both(memory, beside, "update", {"id": mine[-6:], "text": "Ann likes spaces"})
    assert beside.get(mine).text == "Ann likes spaces"
    assert call_both(memory, beside, "link", {"from_id": here, "to_id": mine}).is_error
    assert "spaces" in call_both(memory, beside, "fetch", {"id": mine[-6:]}).content[0].text
    gone = call_both(memory, beside, "forget", {"ids": [here[-6:], mine[-6:]]})
    assert gone.meta[PROGRAMS]["forgotten"] == [here, mine]
    assert (beside.count(), memory.count()) == (0, 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("recall", {"query": "cat", "limit": True}, "limit"),
        ("recall", {"query": "cat", "limit": "3"}, "limit"),
        ("recall", {"query": "cat", "limit": 2.5}, "limit"),
        ("recall", {"query": "cat", "max_tokens": "100"}, "max_tokens"),
        ("recall", {"query": "cat", "change": {"recency": "0.5"}}, "change.recency"),
        ("recall", {"query": "cat", "change": {"cycle": True}}, "change.cycle"),
        ("recall", {"query": "cat", "change": {"vector": ["1", True]}}, "change.vector.0"),
        ("recall", {"query": "cat", "change": {"explain": 1}}, "change.explain"),
        ("recall", {"query": "cat", "filter": {"min_trust": "0.4"}}, "min_trust"),
        ("recall", {"query": "cat", "filter": {"min_trust": True}}, "min_trust"),
        ("search_keywords", {"query": "cat", "limit": True}, "limit"),
        ("remember", {"text": "a cat", "fields": {"importance": "0.5"}}, "fields.importance"),
        ("remember", {"text": "a cat", "fields": {"importance": True}}, "fields.importance"),
        ("link", {"from_id": "a", "to_id": "b", "weight": "1"}, "weight"),
        ("link", {"from_id": "a", "to_id": "b", "weight": True}, "weight"),
        ("forget", {"ids": ["a"], "dry_run": "false"}, "dry_run"),
        ("forget", {"ids": ["a"], "dry_run": 0}, "dry_run"),
        ("reflect", {"dry_run": "no"}, "dry_run"),
    ],
)
def test_a_value_of_another_type_is_refused_and_not_converted(
    memory: Memory, tool: str, arguments: dict[str, Any], named: str
) -> None:
    answer = call(memory, tool, arguments)
    assert answer.is_error
    assert answer.content[0].text.startswith(named)
    assert memory.count() == 0


def test_an_integer_may_be_written_with_a_point(memory: Memory) -> None:
    """As JSON Schema has it."""
    memory.remember_many([f"the cat of day {n}" for n in range(5)])
    answer = call(memory, "recall", {"query": "cat", "limit": 2.0, "max_tokens": 500.0, "change": {"min_relevance": 0}})
    assert len(answer.meta[PROGRAMS]["memories"]) == 2
