"""The files around the package agree with it: workflows, container, citation, hooks."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSIONS = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def loaded(path: str):
    return yaml.safe_load(read(path))


def test_tests_run_on_three_systems_and_every_version_that_is_named():
    matrix = loaded(".github/workflows/tests.yml")["jobs"]["quick"]["strategy"]["matrix"]
    assert matrix == {"os": ["ubuntu-latest", "macos-latest", "windows-latest"], "python": VERSIONS}
    quick = loaded(".github/workflows/tests.yml")["jobs"]["quick"]["steps"][-1]["run"]
    heavy = re.search(r"^HEAVY := (.*)$", read("Makefile"), re.MULTILINE)
    assert heavy
    assert set(heavy[1].split(" or ")) <= set(re.findall(r"\w+", quick))


def test_a_release_is_built_attested_and_published_without_a_stored_token():
    release = loaded(".github/workflows/release.yml")
    steps = [step.get("uses", "") for job in release["jobs"].values() for step in job["steps"]]
    assert any(step.startswith("actions/attest-build-provenance@") for step in steps)
    assert any(step.startswith("pypa/gh-action-pypi-publish@") for step in steps)
    assert release["jobs"]["publish"]["permissions"]["id-token"] == "write"
    assert "secrets." not in read(".github/workflows/release.yml")
    assert release["permissions"] == {"contents": "read"}


def test_every_target_that_a_workflow_makes_exists():
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    for workflow in (ROOT / ".github/workflows").glob("*.yml"):
        for words in re.findall(r"run: make (.+)$", workflow.read_text(encoding="utf-8"), re.MULTILINE):
            assert set(words.split()) <= targets, workflow.name


def test_the_container_is_no_root_and_keeps_its_data():
    lines = read("Dockerfile").splitlines()
    assert "USER thinkback" in lines
    assert "VOLUME /data" in lines
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    assert "/health/live" in read("Dockerfile")
    final = lines[[at for at, line in enumerate(lines) if line.startswith("FROM")][-1] :]
    assert final.index("USER thinkback") < next(at for at, line in enumerate(final) if line.startswith("ENTRYPOINT"))
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert all((ROOT / name).exists() for name in copied)


def test_compose_waits_for_a_healthy_database_and_opens_to_this_machine_only():
    services = loaded("compose.yaml")["services"]
    assert "pgvector" in services["database"]["image"]
    assert services["thinkback"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert services["thinkback"]["ports"] == ["127.0.0.1:7077:7077"]
    assert "password" not in " ".join(services["thinkback"]["command"]).lower()


def test_the_citation_names_this_version():
    citation = loaded("CITATION.cff")
    assert citation["version"] == PROJECT["project"]["version"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["repository-code"] == PROJECT["project"]["urls"]["Homepage"]


def test_hooks_run_what_make_test_runs():
    (local,) = loaded(".pre-commit-config.yaml")["repos"]
    assert [hook["id"] for hook in local["hooks"]] == ["ruff", "format", "mypy"]


@pytest.mark.parametrize("name", ["bug", "idea", "config"])
def test_issue_templates_can_be_read(name):
    assert loaded(f".github/ISSUE_TEMPLATE/{name}.yml")
