"""What a hook answers: the brief at the start of a session, and what a prompt recalls; and what it captures."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from thinkback.apps.agents import files
from thinkback.apps.agents.capture import SOURCE, State, capture
from thinkback.apps.agents.events import CURSOR, Event, event_of, reply
from thinkback.apps.agents.log import log_error
from thinkback.apps.agents.scope import repository_of, store_of
from thinkback.apps.agents.transcripts import Read, Turn, read, worth_keeping
from thinkback.apps.mcp.brief import STANDING_KINDS
from thinkback.apps.mcp.envelope import NOTICE, Quoted, heading, quote, stable
from thinkback.apps.mcp.stores import REPOSITORY, USER
from thinkback.apps.words import in_words
from thinkback.memory import Memory
from thinkback.model import Hit, Record
from thinkback.opening import Opener
from thinkback.search.legs.instructions import STANDING as PREFERENCE
from thinkback.search.relevance import BESIDE, GATE
from thinkback.search.selection import tokens
from thinkback.settings import Settings, load

HITS = 5
LONGEST_PROMPT = 2000  # characters that are searched for
_LISTED = 100


class Agents:
    """The stores of a user's sessions, opened when they are first needed."""

    def __init__(self, settings: Settings | None = None, opener: Opener | None = None) -> None:
        self._settings = settings or load()
        self._opener = opener or Opener(self._settings, reranker=None, secrets="redact")
        self._open: dict[Path, Memory] = {}
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._sessions: set[str] = set()
        self._told: dict[str, set[str]] = {}  # by session, the memories that its prompts brought
        self.finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def warm(self) -> None:
        """Load the model before the first prompt needs it."""
        with suppress(Exception):
            embedder = self._opener.embedder()
            if embedder is not None:
                embedder.embed_query("ready")

    def answer(self, request: Mapping[str, Any]) -> str:
        """What a hook prints; an error is logged and prints nothing."""
        try:
            event = event_of(str(request.get("client")), request["event"], str(request.get("cwd") or "/"))
            return "" if event is None else reply(event, self._context(event))
        except Exception as error:  # noqa: BLE001 - an agent must not notice
            log_error("answer", error)
            return ""

    def _context(self, event: Event) -> str:
        if event.compacted:
            self._told.pop(event.session, None)  # what it was told is no longer in its context
        if event.step == "start":
            return self._started(event)
        if event.step == "prompt":
            context = self._recalled(event)
            if event.client == CURSOR:
                self._capture_turn(event, "user", event.prompt)
            return context
        if event.step == "said":
            self._capture_turn(event, "assistant", event.said)
            return ""
        self._capture(event)
        if event.step == "end":
            self._ended(event)
        return ""

    # -- the start of a session ------------------------------------------------------------------------------------------------

    def _started(self, event: Event) -> str:
        self._sessions.add(event.session)
        self._read_files(event)
        quoted: list[Quoted] = []
        for record, where in self._standing(event):
            longer = [*quoted, _quoted(record, where)]
            if tokens(_brief(longer)) <= self._settings.agent.brief_tokens:
                quoted = longer
        return _brief(quoted) if quoted else ""

    def _standing(self, event: Event) -> Iterator[tuple[Record, str]]:
        """What always holds, then the latest, of the repository first; each memory once."""
        memories = self._memories(event)
        wanted = [{"priorities": ["P1"]}, {"kinds": list(STANDING_KINDS)}, {}]
        seen: set[str] = set()
        for where in wanted:
            for name, memory in memories.items():
                for record in memory.list(limit=_LISTED, **where):  # type: ignore[arg-type]
                    if record.id not in seen and not (record.source or "").startswith(files.SOURCE):
                        seen.add(record.id)
                        yield record, name

    def _read_files(self, event: Event) -> None:
        memory, state = self._repository(event)
        if memory is None or state is None:
            return
        home = Path.home()
        present = {name: path for name, path in files.memory_files(event.folder, home) if path.is_file()}
        for name in (*present, *(name for name in state.files if name not in present)):
            found = files.digest(present[name]) if name in present else ("", "")
            if found is not None and (found[1] or None) != state.file(name):
                files.sync(memory, name, found[0])
                state.read_file(name, found[1] or None)
        state.save()

    # -- a prompt --------------------------------------------------------------------------------------------------------------

    def _recalled(self, event: Event) -> str:
        if not worth_keeping(event.prompt, _nothing()):
            return ""
        told = self._told.setdefault(event.session, set())
        quoted: list[Quoted] = []
        brought: list[str] = []
        for hit, where in self._relevant(event):
            if hit.id in told:
                continue
            longer = [*quoted, _quoted(hit.record, where)]
            if tokens(_marked(longer)) <= self._settings.agent.prompt_tokens:
                quoted, brought = longer, [*brought, hit.id]
        told.update(brought)
        return _marked(quoted) if quoted else ""

    def _relevant(self, event: Event) -> list[tuple[Hit, str]]:
        """What likely answers the prompt, of both stores, the most relevant first; nothing is better than noise.

        Where one hit reaches the gate, a lower one is for those beside it, which rarely answer alone.
        """
        gate = self._settings.agent.gate / 100
        found: list[tuple[Hit, str]] = []
        for name, memory in self._memories(event).items():
            recall = memory.recall(event.prompt[:LONGEST_PROMPT], limit=2 * HITS, counted=False)
            least = gate * BESIDE / GATE if recall.answered and recall.relevance >= gate else gate
            passed = [
                hit for hit in recall if hit.relevance >= least and (recall.answered or hit.stored.kind == PREFERENCE)
            ]
            found += [(hit, name) for hit in passed if not self._known_already(hit.record, event)]
        return sorted(found, key=lambda one: -one[0].relevance)[:HITS]

    def _known_already(self, record: Record, event: Event) -> bool:
        """Whether it is in the session's context: said in it, or in a file that the agent reads by itself."""
        if record.thread == event.session:
            return True
        name = (record.source or "").removeprefix(files.SOURCE)
        return name != record.source and name.startswith(files.OWN_FILES.get(event.client, ()))

    # -- capture ---------------------------------------------------------------------------------------------------------------

    def _capture(self, event: Event) -> None:
        memory, state = self._store_for_capture(event)
        if event.transcript is None or not event.transcript.is_file() or event.client == CURSOR:
            return
        with self._lock:
            found = read(event.transcript, event.client, state.offset(event.transcript))
            self._store(memory, state, event, found)
            state.read_up_to(event.transcript, found.end)
            state.save()

    def _capture_turn(self, event: Event, speaker: Any, text: str) -> None:
        """One message of an agent whose transcript is not written for others to read."""
        found = Read()
        if kept := worth_keeping(text, found.left_out):
            found.turns.append(Turn(f"{event.turn}-{speaker}", speaker, kept, None))
        memory, state = self._store_for_capture(event)
        with self._lock:
            self._store(memory, state, event, found)
            state.save()

    def _store(self, memory: Memory, state: State, event: Event, found: Read) -> None:
        if self._settings.agent.capture and (found.turns or found.left_out):
            done = capture(memory, event.client, event.session, found.turns, found.left_out)
            if done.stored:
                state.record(event.client, event.session, done)

    def _ended(self, event: Event) -> None:
        self._sessions.discard(event.session)
        self._told.pop(event.session, None)
        self.finished = not self._sessions

    # -- the stores ------------------------------------------------------------------------------------------------------------

    def _memories(self, event: Event) -> dict[str, Memory]:
        """The stores that exist, the repository's first."""
        paths = {REPOSITORY: self._repository_path(event), USER: self._settings.store_path}
        return {name: self._memory(path) for name, path in paths.items() if path is not None and path.exists()}

    def _repository(self, event: Event) -> tuple[Memory | None, State | None]:
        path = self._repository_path(event)
        return (None, None) if path is None else (self._memory(path), State(path))

    def _store_for_capture(self, event: Event) -> tuple[Memory, State]:
        """The repository's store, else the user's."""
        path = self._repository_path(event) or self._settings.store_path
        return self._memory(path), State(path)

    def _repository_path(self, event: Event) -> Path | None:
        repository = repository_of(event.folder)
        return None if repository is None else store_of(repository, self._settings.store_path.parent)

    def _memory(self, path: Path) -> Memory:
        with self._lock:
            if path not in self._open:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._open[path] = self._stack.enter_context(self._opener(path))
            return self._open[path]


def _brief(quoted: list[Quoted]) -> str:
    told = "\n".join(f"{one.heading}\n{one.text}" for one in quoted)
    return f"From long-term memory (thinkback). {NOTICE}\n{quote(quoted, stable(told))}"


def _marked(quoted: list[Quoted]) -> str:
    return f"Recalled from long-term memory (thinkback) for this prompt. {NOTICE}\n{quote(quoted)}"


def _quoted(record: Record, where: str) -> Quoted:
    speaker = f" {record.speaker}" if record.speaker in ("user", "assistant") and _captured(record) else ""
    return Quoted(in_words(record), f"{heading(record)} {where}{speaker}")


def _captured(record: Record) -> bool:
    return (record.source or "").startswith(SOURCE)


def _nothing() -> Any:
    from collections import Counter

    return Counter()
