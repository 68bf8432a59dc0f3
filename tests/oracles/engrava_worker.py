"""Runs in an environment of its own that has engrava 0.7.2: reads stores and questions as JSON, writes what engrava answers."""

import asyncio
import json
import sys


async def answers(case):
    import aiosqlite
    from engrava import EdgeRecord, LifecycleStatus, Priority, SqliteEngravaCore, ThoughtRecord, ThoughtType
    from engrava.config import SearchConfig

    async with aiosqlite.connect(":memory:") as connection:
        connection.row_factory = aiosqlite.Row
        config = SearchConfig(graph_expansion_enabled=False)
        store = SqliteEngravaCore(connection, search_config=config)
        await store.ensure_schema()
        for one in case["memories"]:
            kind = ThoughtType.REFLECTION if one["kind"] == "reflection" else ThoughtType.OBSERVATION
            await store.create_thought(
                ThoughtRecord(
                    thought_id=one["id"],
                    thought_type=kind,
                    essence=one["essence"],
                    content=one["text"],
                    priority=Priority(one["priority"]),
                    lifecycle_status=LifecycleStatus.ACTIVE,
                    created_cycle=one["cycle"],
                    updated_cycle=one["cycle"],
                    source="human",
                )
            )
            if one["vector"] is not None:
                await store.store_embedding(one["id"], one["vector"], model_name="given")
        for number, (begin, end, weight) in enumerate(case["edges"]):
            await store.create_edge(
                EdgeRecord(
                    edge_id=f"e{number:04}",
                    from_thought_id=begin,
                    to_thought_id=end,
                    edge_type="ASSOCIATED",
                    weight=weight,
                    created_cycle=0,
                )
            )
        found = []
        for question in case["questions"]:
            if question["themes"]:
                told = await store.search_reflections_only(
                    question["text"], question["vector"], top_k=question["limit"], current_cycle=question["cycle"]
                )
            else:
                told = await store.search_hybrid(
                    question["text"],
                    question["vector"],
                    top_k=question["limit"],
                    current_cycle=question["cycle"],
                    **question["overrides"],
                )
            found.append(told.results)
        return found


async def main():
    for line in sys.stdin:
        print(json.dumps(await answers(json.loads(line))), flush=True)


asyncio.run(main())
