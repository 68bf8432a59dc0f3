"""Keyword search: BM25 over postings in plain SQL, with the numbers of FTS5 to the last bit.

    score(d) = Σ over terms of idf · f · (k1 + 1) / (f + k1 · (1 − b + b · D / avgdl))

The weights of terms are computed here, by the same library as SQLite's; the server multiplies, divides and adds them in the order
of the query. What is more than plain words (phrases, prefixes, operators) is judged by FTS5 itself: postings narrow the rows, which
are put into a table in memory and scored with the space's own number of rows and average length.
"""

import json
import re
from collections.abc import Sequence
from threading import Lock
from typing import Any

import apsw

from thinkback.model import Filter, KeywordQuery, Scored
from thinkback.stores.postgres import words
from thinkback.stores.postgres.filters import Params, clause
from thinkback.stores.postgres.searches import NOTHING_MORE, Ask, Row
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite import fulltext, schema
from thinkback.stores.sqlite.bm25 import K1, B, Bm25, average, idf
from thinkback.stores.sqlite.keywords import all_forms, first_accepted, joined, plain_terms
from thinkback.stores.stemming import STEMMED, WORD, by_forms, forms
from thinkback.values import dataclass

_QUOTED = re.compile(r'"((?:[^"]|"")*)"(\s*\*)?')
_OPERATORS = re.compile(r"\b(?:AND|OR|NOT|NEAR)\b|\b\w+\s*:|[{}]")
_BARE = re.compile(r"([^\s\"(){}^+,:*-]+)(\s*\*)?")
_LAST = "\U0010ffff"
_TABLE = "judged"


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
    holding: "Frequencies",
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


class Frequencies:
    """In how many rows of a space each term stands, remembered while its contents stay the same."""

    MOST = 20_000

    def __init__(self) -> None:
        self._at: tuple[str, int] = ("", -1)
        self._known: dict[tuple[int, str], int] = {}
        self._lock = Lock()  # two legs of one recall often look for the same words; the second waits for the first

    def of(self, tx: Tx, number: int, terms: Sequence[str]) -> dict[str, int]:
        """For a class of postings."""
        with self._lock:
            return self._of(tx, number, terms)

    def _of(self, tx: Tx, number: int, terms: Sequence[str]) -> dict[str, int]:
        at = (tx.counters.store_id, tx.counters.contents)
        if at != self._at or len(self._known) > self.MOST:
            self._at, self._known = at, {}
        known = self._known
        unknown = [term for term in words.distinct(terms) if (number, term) not in known]
        if unknown:
            numbers = [words.PRESENT, words.THEMES] if tx.counters.themes else [words.PRESENT]
            sql = (
                "SELECT p.class, p.term, count(*) FROM thinkback.postings p WHERE p.space = %(space)s "
                "AND p.class = ANY(%(classes)s::smallint[]) AND p.term = ANY(%(terms)s::text[]) GROUP BY p.class, p.term"
            )
            rows = tx.rows(sql, tx.params(classes=numbers, terms=unknown))
            found = {(its, term): count for its, term, count in rows}
            known.update(((its, term), found.get((its, term), 0)) for its in numbers for term in unknown)
        return {term: known[number, term] for term in terms}


def frequencies(tx: Tx, holding: Frequencies, said: Sequence[str]) -> dict[str, int]:
    """In how many present memories without reflections each word stands in any of its forms, or its rarest part."""
    spelt = words.plain(said)
    counts = holding.of(tx, words.PRESENT, [STEMMED, *(term for terms in spelt.values() for term in terms)])
    found = {word: min((counts[term] for term in terms), default=0) for word, terms in spelt.items()}
    if counts[STEMMED]:
        also = {word: [term for form in forms(word) for term in words.terms_of(form)] for word in found}
        counts = holding.of(tx, words.PRESENT, [term for terms in also.values() for term in terms])
        found = {word: count + sum(counts[term] for term in also[word]) for word, count in found.items()}
    return found


def _plain(
    tx: Tx,
    given: tuple[KeywordQuery, Sequence[str]],
    filter: Filter,
    limit: int,
    of: Statistics,
    holding: Frequencies,
    matching: list[int] | None,
) -> "Plain | None":
    query, terms = given
    groups = [[term] for term in terms]
    counts = holding.of(tx, of.numbers[0], [*terms, STEMMED])
    if counts[STEMMED]:
        groups = [[words.kept(form) for form in group] for group in all_forms(words.reader(), query)]
        counts = holding.of(tx, of.numbers[0], [form for group in groups for form in group])
    there = [
        (form, idf(of.rows, sum(counts[one] for one in group))) for group in groups for form in group if counts[form]
    ]
    return (
        Plain([form for form, _ in there], [weight for _, weight in there], of, filter, limit, matching)
        if there
        else None
    )


@dataclass(frozen=True, slots=True)
class Plain:
    """BM25 over plain words in one class of postings."""

    terms: list[str]
    idfs: list[float]
    of: Statistics
    filter: Filter
    limit: int
    matching: list[int] | None

    def sql(self, params: Params) -> str:
        def real(value: float) -> str:
            return params.add(value, "::float8")

        scores = (
            f"SELECT p.seq, sum(t.idf * ((p.tf * {real(K1 + 1.0)}) / (p.tf + {real(K1)} * "
            f"({real(1 - B)} + {real(B)} * p.len / {real(self.of.average)}))) ORDER BY t.ord) AS score "
            f"FROM unnest({params.add(self.terms, '::text[]')}, {params.add(self.idfs, '::float8[]')}) "
            "WITH ORDINALITY AS t(term, idf, ord) JOIN thinkback.postings p ON p.space = %(space)s "
            f"AND p.class = {params.add(self.of.numbers[0])} AND p.term = t.term GROUP BY p.seq"
        )
        passing = clause(self.filter, params, matching=self.matching)
        return (
            f"SELECT m.id, s.score, {NOTHING_MORE} FROM ({scores} ORDER BY score DESC) s "
            f"JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = s.seq WHERE {passing} "
            f"ORDER BY s.score DESC FETCH FIRST ({params.add(self.limit, '::bigint')}) ROWS WITH TIES"
        )

    def read(self, rows: list[Row]) -> list[Scored]:
        return [Scored(row[0], row[1]) for row in rows]


# -- expert syntax


def _judged(
    tx: Tx,
    query: KeywordQuery,
    filter: Filter,
    limit: int,
    of: Statistics,
    holding: Frequencies,
    matching: list[int] | None,
) -> list[Scored]:
    stemmed = holding.of(tx, of.numbers[0], [STEMMED])[STEMMED] > 0
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
