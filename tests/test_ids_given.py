"""Verbs that take ids take them one by one."""

import pytest

import thinkback
from thinkback.errors import InvalidInput


@pytest.mark.parametrize("verb", ["forget", "forget_verified", "archive", "restore", "redact"])
@pytest.mark.parametrize("given", [["a"], ("a",), None, 7], ids=repr)
def test_what_is_no_id_is_refused_with_the_way_to_call_it(verb: str, given: object) -> None:
    with thinkback.open(":memory:", embedder=None, reranker=None) as memory:
        memory.remember("Oscar is a grey cat", id="a")
        with pytest.raises(InvalidInput, match=rf"{verb}\(\*ids\) for a list; got"):
            getattr(memory, verb)(given)
        assert memory.count() == 1
