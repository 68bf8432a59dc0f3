"""Ids sort by time, never repeat, and only grow within one source."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from thinkback.ids import IdSource

NOW = 1_770_000_000_000_000


def test_an_id_is_a_ulid() -> None:
    """48 bits of milliseconds, then 80 bits of chance, of which the first is kept free to count on."""
    (id,) = IdSource(lambda count: b"\xff" * count).take(1, NOW)
    number = 0
    for letter in id:
        number = number * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(letter)
    assert len(id) == 26
    assert number >> 80 == NOW // 1000
    assert number & ((1 << 80) - 1) == (1 << 79) - 1


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-(10**16), 10**16)), max_size=20))
def test_ids_only_grow_whatever_the_clock_does(calls: list[tuple[int, int]]) -> None:
    source = IdSource()
    taken = [id for count, now in calls for id in source.take(count, now)]
    assert taken == sorted(set(taken))


@given(st.integers(0, (1 << 79) - 1), st.integers(0, 2100))
def test_ids_taken_together_are_those_taken_one_by_one(chance: int, count: int) -> None:
    def entropy(size: int) -> bytes:
        return (chance << 1).to_bytes(size, "big")

    together, alone = IdSource(entropy), IdSource(entropy)
    assert together.take(count, NOW) == [id for _ in range(count) for id in alone.take(1, NOW)]


def test_a_later_millisecond_sorts_behind_any_other_source() -> None:
    low, high = IdSource(lambda count: bytes(count)), IdSource(lambda count: b"\xff" * count)
    assert high.take(1000, NOW)[-1] < low.take(1, NOW + 1000)[0]


def test_two_sources_do_not_meet() -> None:
    one, two = IdSource(), IdSource()
    assert not set(one.take(1000, NOW)) & set(two.take(1000, NOW))


def test_threads_never_get_the_same_id() -> None:
    source, taken = IdSource(), []

    def take() -> None:
        for _ in range(200):
            taken.extend(source.take(3, NOW))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == 4 * 200 * 3
