"""Keyword search: BM25 over postings, with the numbers of FTS5 to the last bit.

The server gives the postings of a term as one row, and tells which of the best rows pass the filter; the scores are computed here,
because it takes a server longer to sort, group and add rows than to send them. What is more than plain words (phrases, prefixes,
operators) is judged by FTS5 itself: postings narrow the rows, which are put into a table in memory and scored with the space's own
number of rows and average length.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from thinkback.model import Filter, Floats, KeywordQuery, Scored
from thinkback.stores.postgres import words
from thinkback.stores.postgres.filters import Params, clause, nearly_all
from thinkback.stores.postgres.postings import Seqs, Terms, summed
from thinkback.stores.postgres.searches import Ask, Row
from thinkback.stores.postgres.server import Numbers
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite import fulltext, schema
from thinkback.stores.sqlite.bm25 import Bm25, average, idf
from thinkback.stores.sqlite.keywords import all_forms, first_accepted, joined, plain_terms
from thinkback.stores.stemming import STEMMED, WORD, by_forms, forms
from thinkback.values import dataclass

_QUOTED = re.compile(r'"((?:[^"]|"")*)"(\s*\*)?')
_OPERATORS = re.compile(r"\b(?:AND|OR|NOT|NEAR)\b|\b\w+\s*:|[{}]")
_BARE = re.compile(r"([^\s\"(){}^+,:*-]+)(\s*\*)?")
_LAST = "\U0010ffff"
_TABLE = "judged"
_WIDEST = 512  # rows asked about beyond the limit, as some may not pass


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of a class of postings."""

    numbers: tuple[int, ...]  # the classes
    rows: int
    tokens: int
    exact: bool = False  # words as they are spelt

    @property
    def average(self) -> float:
        return average(self.tokens, self.rows)


def classes(tx: Tx, filter: Filter) -> list[Statistics]:
    """The classes that may hold what passes a filter; an empty one is left out."""
    found = tx.counters
    known = {
        fulltext.PRESENT: Statistics((words.PRESENT,), found.documents, found.tokens),
        fulltext.THEMES: Statistics((words.THEMES,), found.themes, found.theme_tokens),
    }
    return [known[home] for home in fulltext.homes(filter) if known[home].rows]


def spelt_as_is(tx: Tx) -> list[Statistics]:
    """All present versions, by words as they are spelt."""
    rows = tx.counters.documents + tx.counters.themes
    everywhere = (words.PRESENT, words.THEMES)
    return [Statistics(everywhere, rows, tx.counters.exact_tokens, exact=True)] if rows else []


def ask(
    tx: Tx,
    query: KeywordQuery,
    filter: Filter,
    limit: int,
    holding: Terms,
    matching: list[int] | None,
) -> Ask:
    """Best first, ties by id; reflections are scored among themselves. More than plain words is answered at once."""

    def best(answers: list[list[Scored]]) -> list[Scored]:
        return joined(answers, limit)

    if limit <= 0 or query.mode == "empty":
        return Ask((), best)
    spelt = plain_terms(words.reader(), query)
    found = spelt_as_is(tx) if query.exact else classes(tx, filter)
    if spelt is None:
        if not found:  # an unreadable expression is refused, whatever the space holds
            _matches(query, [], Statistics((), 0, 0, query.exact))
        hits = joined((_judged(tx, query, filter, limit, of, holding, matching) for of in found), limit)
        return Ask((), lambda _: hits)
    given = query, [words.kept(term) for term in spelt]
    return Ask([plain for of in found if (plain := _plain(tx, given, filter, limit, of, holding, matching))], best)


def frequencies(tx: Tx, holding: Terms, said: Sequence[str]) -> dict[str, int]:
    """In how many present memories without reflections each word stands in any of its forms, or its rarest part."""
    spelt = words.plain(said)
    counts = holding.counts(tx, words.PRESENT, [STEMMED, *(term for terms in spelt.values() for term in terms)])
    found = {word: min((counts[term] for term in terms), default=0) for word, terms in spelt.items()}
    if counts[STEMMED]:
        also = {word: [term for form in forms(word) for term in words.terms_of(form)] for word in found}
        counts = holding.counts(tx, words.PRESENT, [term for terms in also.values() for term in terms])
        found = {word: count + sum(counts[term] for term in also[word]) for word, count in found.items()}
    return found


def _plain(
    tx: Tx,
    given: tuple[KeywordQuery, Sequence[str]],
    filter: Filter,
    limit: int,
    of: Statistics,
    holding: Terms,
    matching: list[int] | None,
) -> "Plain | None":
    query, terms = given
    number, groups = of.numbers[0], [[term] for term in terms]
    counts = holding.counts(tx, number, [*terms, STEMMED])
    if counts[STEMMED]:
        groups = [[words.kept(form) for form in group] for group in all_forms(words.reader(), query)]
        counts = holding.counts(tx, number, [form for group in groups for form in group])
    there = [
        (form, idf(of.rows, sum(counts[one] for one in group))) for group in groups for form in group if counts[form]
    ]
    if not there:
        return None
    held = holding.postings(tx, number, [form for form, _ in there])
    scored = summed([(held[form], weight) for form, weight in there])
    return Plain(*scored, filter, limit, matching, holding)


class Plain:
    """The best of the rows that hold plain words of one class; the server tells which of them pass the filter.

    Where nearly all pass, it is asked about the best rows alone, and about all of them only if too few of these pass; then later
    searches ask about more. Elsewhere it is told all rows with their places, and looks at them in that order, as far as needed.
    """

    def __init__(
        self, seqs: Seqs, scores: Floats, filter: Filter, limit: int, matching: list[int] | None, holding: Terms
    ) -> None:
        self._seqs, self._scores = seqs, scores
        self._filter, self._limit, self._matching, self._holding = filter, limit, matching, holding
        self._most = limit + holding.margin
        self._head = matching is None and nearly_all(filter) and len(seqs) > self._most

    def sql(self, params: Params) -> str:
        columns = "SELECT m.id, NULL::float8, m.seq, NULL::integer, NULL::integer, NULL::bytea"
        if self._head:
            seqs = params.add_binary(Numbers.of(self._best()))
            passing = clause(self._filter, params, matching=self._matching)
            return f"{columns} FROM thinkback.memories m WHERE {passing} AND m.seq = ANY({seqs})"
        _, places = np.unique(-self._scores, return_inverse=True)
        seqs, ranks = (params.add_binary(Numbers.of(values)) for values in (self._seqs, places))
        passing = clause(self._filter, params, matching=self._matching)
        most = params.add(self._limit, "::bigint")
        return (
            f"{columns} FROM (SELECT u.seq, u.place FROM unnest({seqs}, {ranks}) AS u(seq, place) ORDER BY u.place) s "
            f"JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = s.seq WHERE {passing} "
            f"ORDER BY s.place FETCH FIRST ({most}) ROWS WITH TIES"
        )

    def _best(self) -> Seqs:
        """The rows that are asked about first: the best with all ties of the last, and some more, as a few may not pass."""
        ranks = [len(self._scores) - self._most, len(self._scores) - self._limit]
        last, wanted = np.partition(self._scores, ranks)[ranks]
        best: Seqs = self._seqs[self._scores >= wanted if last == wanted else self._scores > last]
        return best

    def read(self, rows: list[Row]) -> list[Scored] | None:
        if self._head and len(rows) < self._limit:
            self._head = False
            self._holding.margin = min(4 * self._holding.margin, _WIDEST)
            return None
        scores = self._scores[np.searchsorted(self._seqs, [row[2] for row in rows])].tolist()
        return [Scored(row[0], score) for row, score in zip(rows, scores, strict=True)]


# -- expert syntax


def _judged(
    tx: Tx,
    query: KeywordQuery,
    filter: Filter,
    limit: int,
    of: Statistics,
    holding: Terms,
    matching: list[int] | None,
) -> list[Scored]:
    stemmed = holding.counts(tx, of.numbers[0], [STEMMED])[STEMMED] > 0
    query, sizes = by_forms(query) if stemmed and not of.exact else (query, "")
    candidates = _narrowed(tx, query, filter, of, matching, stemmed and of.exact)
    passing = {seq: id for seq, id, passes, *_ in candidates if passes}
    found = _matches(query, [(seq, *columns) for seq, _, _, *columns in candidates], of, sizes)
    hits = [Scored(passing[seq], score) for seq, score in found if seq in passing]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _narrowed(
    tx: Tx, query: KeywordQuery, filter: Filter, of: Statistics, matching: list[int] | None, by_stems: bool
) -> list[tuple[Any, ...]]:
    """Every row that holds a word of the query: number, id, whether it passes, and the columns of full text."""
    asked = [_asked(text, of.exact) for text in (query.expression, query.fallback) if text]
    whole = words.distinct([term for exact, _ in asked for term in exact])
    if by_stems:  # a word as it is spelt may stand in postings by its stem in any language
        said = words.distinct(
            [word for text in (query.expression, query.fallback) if text for word in WORD.findall(text)]
        )
        whole += [term for word in said for form in forms(word) for term in words.terms_of(form)]
    begun = words.distinct([term for _, beginnings in asked for term in beginnings])
    params = tx.params(classes=list(of.numbers), terms=whole)
    ranges = [f"(p.term >= {params.add(start)} AND p.term < {params.add(start + _LAST)})" for start in begun]
    either = " OR ".join(["p.term = ANY(%(terms)s::text[])", *ranges])
    passing = clause(filter, params, matching=matching)
    sql = (
        f"SELECT m.seq, m.id, ({passing}), m.kind, m.text, m.essence, m.tags FROM thinkback.memories m WHERE m.space = %(space)s "
        "AND m.seq IN (SELECT p.seq FROM thinkback.postings p WHERE p.space = %(space)s "
        f"AND p.class = ANY(%(classes)s::smallint[]) AND ({either}))"
    )
    return [
        (seq, id, passes, *fulltext.columns_of(kind, text, essence, json.loads(tags), of.exact))
        for seq, id, passes, kind, text, essence, tags in tx.rows(sql, params)
    ]


def _asked(expression: str, exact_words: bool) -> tuple[list[str], list[str]]:
    """Terms, and beginnings of terms, at least one of which stands in every row that a part of the expression matches."""
    exact: list[str] = []
    beginnings: list[str] = []
    quoted = [(text.replace('""', '"'), bool(star)) for text, star in _QUOTED.findall(expression)]
    rest = _OPERATORS.sub(" ", _QUOTED.sub(" ", expression))
    for text, prefix in [*quoted, *((word, bool(star)) for word, star in _BARE.findall(rest))]:
        terms = words.terms_of(text)
        if prefix and (len(terms) == 1 or exact_words):
            # Of a word as it is spelt, postings hold the stem, of which no more than the first letter is certain.
            beginnings += [term[:1] if exact_words else term for term in terms[:1]]
        else:  # of a phrase one term is enough, and the longest is the rarest, as a rule; the last may be a beginning
            exact += sorted(terms[:-1] if prefix else terms, key=len)[-1:]
    return exact, beginnings


def _matches(
    query: KeywordQuery, rows: Sequence[Sequence[Any]], of: Statistics, sizes: str = ""
) -> list[tuple[int, float]]:
    """The rows that FTS5 finds, with the scores they would have in an index of the whole space."""
    table = apsw.Connection(":memory:")
    try:
        table.execute(schema.full_text(_TABLE, of.exact))
        with table:
            table.executemany(f"INSERT INTO {_TABLE} (rowid, content, essence, tags) VALUES (?, ?, ?, ?)", rows)
        table.register_fts5_function("space_bm25", Bm25(of.rows, of.average))
        sql = f"SELECT rowid, space_bm25({_TABLE}, '{sizes}') FROM {_TABLE} WHERE {_TABLE} MATCH ?"
        found = first_accepted(query, lambda expression: table.execute(sql, (expression,)).fetchall())
        return [(int(seq), float(score)) for seq, score in found]
    finally:
        table.close()
