"""Asking a language model what a query left open: its tags, and a time said loosely."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from datetime import tzinfo

from thinkback.errors import RemoteError, ThinkbackError
from thinkback.models.chat import Chat, Guarded
from thinkback.search.query.parse import Parsing, Query
from thinkback.search.query.tags import TagChoice, Vocabulary, tags_from_llm
from thinkback.search.query.time import Anchor
from thinkback.search.query.time_llm import LlmExtractor


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions under way; what was already understood is not asked again."""

    tags: Future[TagChoice] | None
    time: Future[Anchor | None] | None

    def answer(self, query: Query, warn: Callable[[str, ThinkbackError], None]) -> Query:
        """The query with what the model added; a failure is a warning and changes nothing."""
        if self.tags is not None:
            choice = self.tags.result()
            if choice.problem is not None:
                warn("no tags from the language model", RemoteError(choice.problem))
            query = replace(query, tags=choice.tags)
        if self.time is not None:
            try:
                query = replace(query, anchor=self.time.result())
            except ThinkbackError as error:
                warn("no time from the language model", error)
        return query


def ask(query: Query, parsing: Parsing, chat: Chat, vocabulary: Vocabulary, pool: Executor, zone: tzinfo) -> Asked:
    """Asks for tags when neither a hashtag nor the vocabulary gave one, and for a time when no template fits."""
    loosely = parsing.time == "english" and query.anchor is None
    return Asked(
        tags=pool.submit(tags_from_llm, query.text, vocabulary, chat) if parsing.tags and not query.tags else None,
        time=pool.submit(LlmExtractor(Guarded(chat)), query.text, query.now, zone) if loosely else None,
    )
