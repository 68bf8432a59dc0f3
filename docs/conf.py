"""The documentation site: `make docs` builds it without a network, and a warning is an error."""

import inspect
from pathlib import Path

import thinkback

HERE = Path(__file__).parent

project = "Thinkback"
author = "The Thinkback authors"
version = release = thinkback.__version__
copyright = "the Thinkback authors, Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "Thinkback"
html_copy_source = False
html_show_sphinx = False

myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True}
add_module_names = False
default_role = "code"  # docstrings have code between single back-ticks
# Pages link to files of the repository, such as CONTRIBUTING.md; a fenced block of mermaid is shown as it is.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]


def api_pages(app):
    """One page for each public name; they are made anew on every build."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    for name in thinkback.__all__:
        value = getattr(thinkback, name)
        kind = "class" if inspect.isclass(value) else "function" if inspect.isfunction(value) else "data"
        page = f"# {name}\n\n```{{eval-rst}}\n.. currentmodule:: thinkback\n\n.. auto{kind}:: {name}\n```\n"
        target = folder / f"{name}.md"
        if not target.exists() or target.read_text(encoding="utf-8") != page:
            target.write_text(page, encoding="utf-8")


def plain_words(app, what, name, object, options, lines):
    """A docstring is plain sentences: stars, bars and underscores at the end of a word are no markup."""
    lines[:] = [line.replace("*", r"\*").replace("|", r"\|").replace("_ ", r"\_ ") for line in lines]


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", api_pages)
    app.connect("autodoc-process-docstring", plain_words)
