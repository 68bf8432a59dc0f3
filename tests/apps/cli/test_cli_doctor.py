"""`thinkback doctor` is a page of green and red with remedies; logs say what matters; the dashboard fits the metrics."""

import json
import logging
import re
from pathlib import Path

import thinkback
from thinkback.testing import ToyEmbedder

ROOT = Path(__file__).parents[3]


def test_a_healthy_store_is_green(cli):
    cli.remember("one")
    ran = cli.ok("doctor")
    assert "✗" not in ran.out
    assert "✓ file" in ran.out
    assert ran.out.endswith("the store is healthy\n")
    seen = cli.ok("doctor", "--json").json
    assert seen["healthy"]
    assert {"thinkback", "packages", "embedder", "file", "disk", "vectors"} <= {
        check["name"] for check in seen["checks"]
    }
    assert all(check["fine"] for check in seen["checks"])


def test_what_is_red_names_its_remedy(cli, tmp_path, monkeypatch):
    with thinkback.open(cli.store, embedder=ToyEmbedder()) as memory:
        memory.remember("with a vector")
    cli.remember("without one")
    ran = cli("doctor")
    assert ran.code == 1
    assert "✗ vectors" in ran.out
    assert "thinkback embed --missing" in ran.out
    (red,) = [check for check in cli("doctor", "--json").json["checks"] if not check["fine"]]
    assert (red["name"], red["remedy"]) == ("vectors", "thinkback embed --missing")


def test_missing_weights_are_red(cli, tmp_path, monkeypatch):
    cli.remember("one")
    monkeypatch.setenv("THINKBACK_EMBEDDER", "e5-small-v2")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    ran = cli("doctor")
    assert ran.code == 1
    assert "thinkback models pull e5-small-v2" in ran.out


def test_the_log_says_what_matters_and_holds_no_text(caplog, tmp_path):
    with (
        caplog.at_level(logging.INFO, logger="thinkback"),
        thinkback.open(tmp_path / "a.db", embedder=ToyEmbedder()) as memory,
    ):
        first = memory.remember("a secret plan about the harbour", id="plan-of-mine")
        memory.reflect()
        memory.tidy(dry_run=False)
        memory.forget(first.id)
    said = caplog.text
    for word in ("opened", "reflected", "tidied", "forgot 1"):
        assert word in said
    assert "harbour" not in said
    assert "plan-of-mine" not in said


def test_the_dashboard_asks_for_metrics_that_exist():
    from thinkback.apps.http.metrics import Metrics

    known = set(re.findall(r"^# TYPE (\w+)", Metrics().text().decode(), re.MULTILINE))
    asked = " ".join(target["expr"] for panel in dashboard()["panels"] for target in panel["targets"])
    for name in set(re.findall(r"thinkback_\w+", asked)):
        assert name.removesuffix("_bucket") in known or name in known, name


def test_every_metric_is_on_the_dashboard():
    from thinkback.apps.http.metrics import Metrics

    asked = " ".join(target["expr"] for panel in dashboard()["panels"] for target in panel["targets"])
    names = {
        name
        for name in re.findall(r"^# TYPE (\w+)", Metrics().text().decode(), re.MULTILINE)
        if not name.endswith("_created")
    }
    assert [name for name in sorted(names) if name not in asked] == []


def dashboard():
    return json.loads((ROOT / "deploy" / "grafana.json").read_text(encoding="utf-8"))
