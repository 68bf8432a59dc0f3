"""What `import recollect` offers: few names, sorted, each one real."""

import recollect


def test_the_public_names_are_few_and_sorted():
    assert recollect.__all__ == sorted(recollect.__all__)
    assert len(recollect.__all__) <= 15
    assert recollect.__all__ == [
        "AsyncMemory",
        "Edge",
        "Embedder",
        "Hit",
        "InvalidInput",
        "Memory",
        "NotFound",
        "Recall",
        "Recipe",
        "RecollectError",
        "RecollectWarning",
        "Record",
        "open",
    ]


def test_every_public_name_is_there_and_documented():
    for name in recollect.__all__:
        assert getattr(recollect, name).__doc__, name
    assert set(recollect.__all__) <= set(dir(recollect))


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(recollect, "recall")


def test_the_version_is_that_of_the_package():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert recollect.__version__ == project["version"]
