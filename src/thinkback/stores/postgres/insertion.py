"""A few memories as one statement: it takes numbers, and writes their rows, tags, postings, vectors and passages."""

from collections.abc import Iterator, Mapping, Sequence

from thinkback.model import REFLECTION, Passages, StoredRecord, Vector
from thinkback.stores.postgres import generations, words
from thinkback.stores.postgres.filters import Params
from thinkback.stores.postgres.messages import COUNTERS
from thinkback.stores.postgres.rows import NAMES, TYPES, to_row
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.session import changed
from thinkback.stores.sqlite.generations import STORED, Generation
from thinkback.values import dataclass

_QUOTED = ", ".join(f'"{name}"' for name in NAMES)  # `user` is a word of SQL
_POSITION = (
    'coalesce(u."position", u.nth + coalesce((SELECT max(o.position) FROM thinkback.memories o '
    "WHERE o.space = %(space)s AND o.thread = u.thread AND o.retired_at IS NULL), -1))"
)
_QUOTED_OF_U = ", ".join(f'u."{name}"' for name in NAMES)
_SEQ = "s.last_seq - %(count)s + u.ord"  # the number of a row, counted from 1 in the batch


@dataclass(frozen=True, slots=True)
class Batch:
    """Versions to be written together, with their terms and vectors; `places` says which of them have a vector."""

    records: Sequence[StoredRecord]
    terms: Sequence[tuple[Mapping[str, int], int]]  # of each record: how often each term occurs, and how many there are
    live: Generation | None = None
    places: Sequence[int] = ()
    vectors: Vector | None = None
    long: Sequence[tuple[int, Passages, Vector]] = ()  # places of long texts, with their passages and those' unit rows

    def moved(self) -> dict[str, int]:
        """By how much the counters of the space move."""
        total = dict.fromkeys(("documents", "tokens", "themes", "theme_tokens", "exact_tokens", "passages"), 0)
        total["passages"] = sum(len(rows) for _, _, rows in self.long)
        for record, (_, length) in zip(self.records, self.terms, strict=False):
            rows, tokens = ("themes", "theme_tokens") if record.kind == REFLECTION else ("documents", "tokens")
            total[rows] += 1
            total[tokens] += length
            total["exact_tokens"] += words.exact_length(record)
        return total


def class_of(record: StoredRecord) -> int:
    """Which postings a version belongs to."""
    return words.THEMES if record.kind == REFLECTION else words.PRESENT


def postings_of(batch: Batch, first: int) -> Iterator[tuple[int, str, int, int, int]]:
    """Class, term, number, frequency and length of every posting; the first memory has the number `first`."""
    for seq, (record, (terms, length)) in enumerate(zip(batch.records, batch.terms, strict=False), first):
        number = class_of(record)
        for term, count in terms.items():
            yield number, term, seq, count, length


def insertion(
    params: Params,
    batch: Batch,
    nth: Sequence[int | None] | None = None,
    unless: Sequence[Sequence[str]] = (),
) -> str:
    """One statement that takes numbers, writes everything and returns the counters; no row, if the generation is another.

    With `nth`, it gives the nth new position of its thread to each memory that has one there, and returns all positions too.
    Nothing is written, and no row returned, if a present memory holds all terms of one of `unless`.
    """
    params |= {"count": len(batch.records), "live": None if batch.live is None else batch.live.number}
    parts = [_numbers(params, batch, unless), _memories(params, batch, nth)]
    parts += [*_tags(params, batch), *_postings(params, batch)]
    if batch.live is not None:
        head = "head" if batch.live.space.dimensions <= WIDEST_HEAD else "wide"
        parts += [*_vectors(params, batch, head), *_passages(params, batch, head)]
    also = "" if nth is None else ", (SELECT array_agg(m.position ORDER BY m.seq) FROM m)"
    return f"WITH {', '.join(parts)} SELECT {COUNTERS}{also} FROM s"


def _numbers(params: Params, batch: Batch, unless: Sequence[Sequence[str]]) -> str:
    steps = "".join(f", {name} = {name} + {params.add(by, '::bigint')}" for name, by in batch.moved().items() if by)
    return (
        f"s AS (UPDATE thinkback.spaces s SET {changed(params)}, contents = contents + 1, "
        f"last_seq = last_seq + %(count)s{steps} WHERE s.space = %(space)s "
        f"AND (%(live)s::integer IS NULL OR s.live = %(live)s)"
        f"{''.join(_unheld(params, terms) for terms in unless)} RETURNING {COUNTERS})"
    )


def _unheld(params: Params, terms: Sequence[str]) -> str:
    """The condition that no present memory holds all these terms."""
    return (
        f" AND NOT EXISTS (SELECT 1 FROM thinkback.postings p WHERE p.space = %(space)s AND p.class = {words.PRESENT} "
        f"AND p.term = ANY({params.add(list(terms), '::text[]')}) "
        f"GROUP BY p.seq HAVING count(*) = {params.add(len(terms))})"
    )


def _memories(params: Params, batch: Batch, nth: Sequence[int | None] | None) -> str:
    columns = list(zip(*map(to_row, batch.records), strict=True))
    arrays = ", ".join(params.add(list(column), f"::{type}[]") for column, type in zip(columns, TYPES, strict=True))
    if nth is None:
        values, source = _QUOTED_OF_U, f"unnest({arrays}) WITH ORDINALITY AS u({_QUOTED}, ord)"
    else:
        places = params.add(list(nth), "::bigint[]")
        values = _QUOTED_OF_U.replace('u."position"', _POSITION)
        source = f"unnest({arrays}, {places}) WITH ORDINALITY AS u({_QUOTED}, nth, ord)"
    return (
        f"m AS (INSERT INTO thinkback.memories (space, seq, changed, {_QUOTED}) "
        f"SELECT %(space)s, {_SEQ}, s.changes, {values} FROM s, {source} RETURNING seq, position)"
    )


def _tags(params: Params, batch: Batch) -> Iterator[str]:
    tagged = [(tag, ord) for ord, record in enumerate(batch.records, 1) for tag in record.tags]
    if tagged:
        params["tags"], params["tag_ords"] = map(list, zip(*tagged, strict=True))
        yield (
            f"t AS (INSERT INTO thinkback.memory_tags (space, tag, seq) SELECT %(space)s, u.tag, {_SEQ} "
            "FROM s, unnest(%(tags)s::text[], %(tag_ords)s::bigint[]) AS u(tag, ord))"
        )


def _postings(params: Params, batch: Batch) -> Iterator[str]:
    posted = list(postings_of(batch, 1))
    if posted:
        names = ("class", "term", "ord", "tf", "len")
        params |= zip((f"p_{name}" for name in names), map(list, zip(*posted, strict=True)), strict=True)
        yield (
            "p AS (INSERT INTO thinkback.postings (space, class, term, seq, tf, len) "
            f"SELECT %(space)s, u.class, u.term, {_SEQ}, u.tf, u.len "
            "FROM s, unnest(%(p_class)s::smallint[], %(p_term)s::text[], %(p_ord)s::bigint[], %(p_tf)s::integer[], "
            "%(p_len)s::integer[]) AS u(class, term, ord, tf, len))"
        )


def _vectors(params: Params, batch: Batch, head: str) -> Iterator[str]:
    if batch.vectors is not None:
        params["v_ord"] = [place + 1 for place in batch.places]
        params["exact"] = [row.astype(STORED, copy=False).tobytes() for row in batch.vectors]
        params["half"] = generations.halves(batch.vectors)
        yield (
            f"v AS (INSERT INTO thinkback.vectors (space, generation, seq, exact, {head}) "
            f"SELECT %(space)s, %(live)s, {_SEQ}, u.exact, u.half "
            "FROM s, unnest(%(v_ord)s::bigint[], %(exact)b, %(half)b) AS u(ord, exact, half))"
        )


def _passages(params: Params, batch: Batch, head: str) -> Iterator[str]:
    if batch.long:
        spans = [(place + 1, n, span) for place, its, _ in batch.long for n, span in enumerate(its.spans)]
        params["l_ord"], params["l_ordinal"] = [ord for ord, _, _ in spans], [n for _, n, _ in spans]
        params["l_first"], params["l_last"] = [s.start for _, _, s in spans], [s.end for _, _, s in spans]
        params["l_exact"] = [row.astype(STORED, copy=False).tobytes() for _, _, rows in batch.long for row in rows]
        params["l_half"] = [half for _, _, rows in batch.long for half in generations.halves(rows)]
        yield (
            f"l AS (INSERT INTO thinkback.passages (space, generation, seq, ordinal, first, last, exact, {head}) "
            f"SELECT %(space)s, %(live)s, {_SEQ}, u.ordinal, u.first, u.last, u.exact, u.half "
            "FROM s, unnest(%(l_ord)s::bigint[], %(l_ordinal)s::integer[], %(l_first)s::integer[], %(l_last)s::integer[], "
            "%(l_exact)b, %(l_half)b) AS u(ord, ordinal, first, last, exact, half))"
        )
