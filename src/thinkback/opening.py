"""The composition root: from settings and explicit choices to a memory whose parts work together.

Nothing else wires a store, models and a memory. As a library call it reads neither the environment nor the working folder; a
program loads its settings (`thinkback.settings.load`) and passes them.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import thinkback
from thinkback.clock import Clock, system_clock
from thinkback.errors import InvalidInput, MissingExtra
from thinkback.lifecycle.embed import Embedding
from thinkback.lifecycle.secrets import Policy
from thinkback.memory import Memory
from thinkback.settings import NONE, Postgres, Settings, is_server
from thinkback.stores.base import DEFAULT_SPACE, Spaces, Store
from thinkback.stores.sqlite import SqliteSpaces, SqliteStore

if TYPE_CHECKING:
    from thinkback.lifecycle.move import Moved
    from thinkback.models.weights.options import FetchOptions, OpenOptions, Progress
    from thinkback.stores.sqlite.salvage import Salvaged

T = TypeVar("T")
OPENED = "opened:"  # in a recipe: the reranker the memory was opened with, else the one named here
UPGRADE_STEP = 2000  # memories; a smaller file is upgraded before one could read about it
DEFAULT = "default"  # whatever the settings name
COPIES_MB = Postgres().copies_mb
log = logging.getLogger("thinkback")


def open(
    path: str | Path | None = None,
    *,
    settings: Settings | None = None,
    embedder: "str | thinkback.Embedder | None" = DEFAULT,
    reranker: "str | thinkback.Reranker | None" = DEFAULT,
    recipe: "str | Path | thinkback.Recipe | None" = None,
    models: "OpenOptions | None" = None,
    chat: "thinkback.Chat | None" = None,
    extractor: "thinkback.AnchorExtractor | None" = None,
    clock: Clock = system_clock,
    secrets: Policy | None = None,
    read_only: bool = False,
    strict: bool = False,
    space: str = DEFAULT_SPACE,
) -> Memory:
    """Open a memory file and create it if it does not exist: `thinkback.open("memory.db")`.

    Or a space on a PostgreSQL server: `thinkback.open("postgresql://host/database", space="alice")`.

    `embedder` is a model's name, an object of your own, or None for keywords alone; nothing is loaded before its first use.
    `settings` fill in what is left at its default. `models` says where weights come from and how they run. `chat` is a language
    model for what a query leaves open (tags, loose times); none is needed. `extractor` finds the time that a query names, before
    the rules of the recipe. `secrets` is what happens to likely secrets in what is stored: `warn`, `redact` or `refuse`. `strict`
    raises where a search would warn and go on.
    """
    opener = Opener(
        settings,
        embedder=embedder,
        reranker=reranker,
        models=models,
        chat=chat,
        extractor=extractor,
        clock=clock,
        secrets=secrets,
    )
    return opener(path, recipe=recipe, read_only=read_only, strict=strict, space=space)


class Opener:
    """Opens memories that share one set of models, each loaded on first use and only once.

    `progress` hears how far the download of weights is, `upgrading` how far the upgrade of a file of an older version.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        embedder: "str | thinkback.Embedder | None" = DEFAULT,
        reranker: "str | thinkback.Reranker | None" = DEFAULT,
        models: "OpenOptions | None" = None,
        progress: "Progress | None" = None,
        upgrading: Callable[[int, int], None] | None = None,
        chat: "thinkback.Chat | None" = None,
        extractor: "thinkback.AnchorExtractor | None" = None,
        clock: Clock = system_clock,
        secrets: Policy | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self._secrets: Policy = secrets or self.settings.secrets  # type: ignore[assignment]
        self._models = models
        self._progress = progress
        self._upgrading = upgrading or _announce_upgrade
        self._clock = clock
        self._chat = chat or chat_of(self.settings)
        self._extractor = extractor
        self._embedder = self._embedder_opener(embedder)
        self._reranker = self._reranker_opener(reranker)
        self._watchers: tuple[Callable[[thinkback.Recall], None], ...] = ()

    def watch(self, watcher: "Callable[[thinkback.Recall], None]") -> None:
        """Call `watcher` after every search of the memories opened from now on."""
        self._watchers = (*self._watchers, watcher)

    def __call__(
        self,
        path: str | Path | None = None,
        *,
        recipe: "str | Path | thinkback.Recipe | None" = None,
        read_only: bool = False,
        strict: bool = False,
        count_accesses: bool = True,
        clock: Clock | None = None,
        space: str | None = None,
        create: bool = True,
    ) -> Memory:
        """The memory in a file, or in a space of a server; without a path, the one the settings name.

        A file is made if absent; so is a space, with `create`.
        """
        if path is None:
            path, space = self._usual_path(), space or self.settings.space
        store = open_store(
            path,
            space or DEFAULT_SPACE,
            read_only=read_only,
            create=create,
            upgrading=self._upgrading,
            copies_mb=self.settings.postgres.copies_mb,
        )
        log.info("opened %s", "a database" if is_server(path) else path)
        return self.over(
            store, recipe=recipe, read_only=read_only, strict=strict, count_accesses=count_accesses, clock=clock
        )

    def over(
        self,
        store: Store,
        *,
        recipe: "str | Path | thinkback.Recipe | None" = None,
        read_only: bool = False,
        strict: bool = False,
        count_accesses: bool = True,
        clock: Clock | None = None,
    ) -> Memory:
        """The memory over a store that is open already; it closes the store when it is closed."""
        return Memory(
            store,
            embedding=Embedding(store, self._embedder),
            reranker=self._reranker,
            recipe=self.settings.recipe if recipe is None else recipe,
            chat=self._chat,
            extractor=self._extractor,
            clock=clock or self._clock,
            strict=strict,
            count_accesses=count_accesses and not read_only,
            secrets=self._secrets,
            journal_days=self.settings.journal_days,
            tombstones=self.settings.tombstones,
            watchers=self._watchers,
        )

    def embedder(self) -> "thinkback.Embedder | None":
        """The embedder, loaded; None if there is none."""
        return None if self._embedder is None else self._embedder()

    def reranker(self, name: str = DEFAULT) -> "thinkback.Reranker | None":
        """The reranker that a recipe names, loaded; None if there is none."""
        return None if self._reranker is None else self._reranker(name)

    def _usual_path(self) -> str | Path:
        if self.settings.database is not None:
            return self.settings.database
        path = self.settings.store_path
        if self.settings.store is None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    def _embedder_opener(self, given: "str | thinkback.Embedder | None") -> "Callable[[], thinkback.Embedder] | None":
        name = self._chosen("embedder", given)
        if name is not None and not isinstance(name, str) and not hasattr(name, "embed_passages"):
            raise InvalidInput(
                f"an embedder is a name or has embed_query and embed_passages; got {name!r:.80}. To wrap a function of a list of "
                'texts: thinkback.CallbackEmbedder("my-model", dimensions, function)',
                code="not_an_embedder",
            )
        if not isinstance(name, str):
            return None if name is None else lambda: name

        def load() -> "thinkback.Embedder":
            from thinkback.models.embedders import open_embedder

            return open_embedder(name, self._options("embedder"))

        return _one_at_a_time(cache(load))

    def _reranker_opener(
        self, given: "str | thinkback.Reranker | None"
    ) -> "Callable[[str], thinkback.Reranker] | None":
        """A recipe asks for its model by name; `default` there means the one chosen here."""
        chosen = self._chosen("reranker", given)
        if chosen is None:
            return None

        usual = isinstance(given, str) and given == DEFAULT and self.settings.reranker == DEFAULT

        def load(name: str) -> "thinkback.Reranker":
            if name.startswith(OPENED):
                name = name.removeprefix(OPENED) if usual else DEFAULT
            if name == DEFAULT and not isinstance(chosen, str):
                return chosen
            from thinkback.models.rerankers import RERANKERS, open_reranker

            if name not in (DEFAULT, chosen) and name.partition(":")[0] in RERANKERS:
                raise InvalidInput(
                    f"a recipe cannot name a server ({name!r}); name it as the reranker when the memory is opened",
                    code="server_in_recipe",
                )
            return open_reranker(str(chosen) if name == DEFAULT else name, self._options("reranker"))

        return _one_at_a_time(cache(load))

    def _chosen(self, role: str, given: str | T | None) -> str | T | None:
        """The model named by the call, else by the settings; an untrusted folder may name pinned models only."""
        if given != DEFAULT or not isinstance(given, str):
            return None if isinstance(given, str) and given == NONE else given
        name: str = getattr(self.settings, role)
        if self.settings.from_folder(role) and name not in (DEFAULT, NONE):
            from thinkback.models.weights.pinned import MODELS

            if name not in MODELS:
                raise InvalidInput(
                    f"thinkback.toml in the working folder names the {role} {name!r}; there only these can be named: "
                    + ", ".join(MODELS),
                    code="untrusted_setting",
                )
        return None if name == NONE else name

    def _options(self, role: str) -> "OpenOptions":
        if self._models is not None:
            return self._models
        options = open_options(self.settings, self._progress or announcer())
        return replace(options, api_key=self.settings.key_for("api_key", role))


def open_store(
    path: str | Path,
    space: str = DEFAULT_SPACE,
    *,
    read_only: bool = False,
    create: bool = True,
    upgrading: Callable[[int, int], None] | None = None,
    copies_mb: int = COPIES_MB,
) -> Store:
    """The store in a file, or a space on a server, which is made if absent unless `create` is False."""
    if is_server(path):
        found: Store = postgres().open_store(str(path), space, read_only=read_only, create=create, copies_mb=copies_mb)
        return found
    if space != DEFAULT_SPACE:
        raise InvalidInput(
            f"a file is one space and has no {space!r}; name another file, or a server: postgresql://…",
            code="one_space",
        )
    return SqliteStore(path, read_only=read_only, progress=upgrading)


def open_spaces(
    place: str | Path, *, default_file: Path | None = None, read_only: bool = False, copies_mb: int = COPIES_MB
) -> Spaces:
    """The spaces of a folder, one file each, or of a database."""
    if is_server(place):
        found: Spaces = postgres().PostgresSpaces(str(place), read_only=read_only, copies_mb=copies_mb)
        return found
    return SqliteSpaces(Path(place), default_file=default_file, read_only=read_only)


def move(
    source: str | Path,
    target: str | Path,
    *,
    space: str = DEFAULT_SPACE,
    clock: Clock = system_clock,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> "Moved":
    """Copy a file into a space of a server, or back, and compare; an interrupted move continues when run again."""
    from thinkback.lifecycle.move import move as move_store

    ends = [DEFAULT_SPACE if not is_server(place) else space for place in (source, target)]
    origin = open_store(source, ends[0], read_only=True)
    try:
        goal = open_store(target, ends[1])
        try:
            return move_store(origin, goal, clock(), progress)
        finally:
            goal.close()
    finally:
        origin.close()


def move_all(
    source: str | Path,
    target: str | Path,
    *,
    clock: Clock = system_clock,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> "Iterator[tuple[str, Moved]]":
    """Copy every space of a folder into a database, or back, one after another; run again, those moved before are passed over."""
    from thinkback.lifecycle.move import NOTHING, was_moved
    from thinkback.lifecycle.move import move as move_store

    origins, goals = open_spaces(source, read_only=True), open_spaces(target)
    try:
        for name in origins.names():
            origin = origins.open(name)
            goal = goals.open(name)
            try:
                moved = NOTHING if was_moved(origin, goal) else move_store(origin, goal, clock(), progress, name)
            finally:
                origin.close()
                goal.close()
            yield name, moved
    finally:
        origins.close()
        goals.close()


def salvage(damaged: str | Path, new: str | Path) -> "Salvaged":
    """Read every row that can be read of a damaged file into a new store, and tell what was lost."""
    from thinkback.stores.sqlite.salvage import salvage

    return salvage(Path(damaged), Path(new))


def restore_backup(copy: str | Path, store: str | Path, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store that no program has open; returns where the old file was moved."""
    from thinkback.stores.sqlite.backup import restore

    return restore(Path(copy), Path(store), replace)


def postgres() -> ModuleType:
    """The engine for PostgreSQL, or MissingExtra."""
    try:
        import thinkback.stores.postgres as found
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("thinkback"):
            raise
        raise MissingExtra.of("A store on PostgreSQL", "postgres") from None
    return found


def open_options(settings: Settings, progress: "Progress | None" = None) -> "OpenOptions":
    """How embedders and rerankers are opened by these settings."""
    from thinkback.models.weights.options import OpenOptions

    return OpenOptions(
        fetch=fetch_options(settings),
        progress=progress,
        device=settings.device,
        threads=settings.threads,
        api_key=settings.api_key,
    )


def fetch_options(settings: Settings) -> "FetchOptions":
    """Where weights may come from, by these settings and the user's configuration of pip or uv."""
    from thinkback.models.weights import options

    found = options.fetch_options(settings.environ, Path.home())
    indexes = found.indexes
    if settings.index_url is not None:
        indexes = replace(indexes, index_urls=(settings.index_url,))
    return replace(found, folder=settings.models, offline=settings.offline, indexes=indexes)


def announcer() -> Callable[[int, int, str], None]:
    """Log once per file set that weights are being fetched, so that the first recall does not seem to hang."""
    announced: set[str] = set()

    def announce(done: int, total: int, label: str) -> None:
        if label not in announced:
            announced.add(label)
            log.warning("fetching %s (%.0f MB); it is kept and used offline from then on", label, total / 1e6)

    return announce


def _announce_upgrade(done: int, total: int) -> None:
    """Log once, at the end of the first part, that a file of an older version is being upgraded."""
    if done == min(total, UPGRADE_STEP) and total > UPGRADE_STEP:
        log.warning("bringing %d memories to the present format, once", total)


def chat_of(settings: Settings) -> "thinkback.Chat | None":
    """The language model of the settings, for the optional fallbacks; most people have none and need none."""
    llm = settings.llm
    if not llm.base_url or not llm.model:
        return None
    from thinkback.models.chat import OpenAiChat

    return OpenAiChat(llm.base_url, llm.model, settings.key_for("llm.key", "llm.base_url"))


def _one_at_a_time(make: Callable[..., T]) -> Callable[..., T]:
    """Serialise callers, so that two threads never load the same model twice; a failed load is tried again."""
    lock = Lock()

    def get(*args: str) -> T:
        with lock:
            return make(*args)

    return get
