"""What `import thinkback` offers: few names, sorted, each one real."""

import thinkback


def test_the_public_names_are_few_and_sorted():
    assert thinkback.__all__ == sorted(thinkback.__all__)
    assert len(thinkback.__all__) <= 15
    assert thinkback.__all__ == [
        "AsyncMemory",
        "Edge",
        "Embedder",
        "Hit",
        "InvalidInput",
        "Memory",
        "NotFound",
        "Recall",
        "Recipe",
        "Record",
        "ThinkbackError",
        "ThinkbackWarning",
        "open",
    ]


def test_every_public_name_is_there_and_documented():
    for name in thinkback.__all__:
        assert getattr(thinkback, name).__doc__, name
    assert set(thinkback.__all__) <= set(dir(thinkback))


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(thinkback, "recall")


def test_the_version_is_that_of_the_package():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert thinkback.__version__ == project["version"]
