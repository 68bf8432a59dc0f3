"""Recipes as TOML files."""

import tomllib
from pathlib import Path
from typing import Any

from thinkback.errors import RecipeError
from thinkback.search.recipes.model import Recipe, from_dict, merged, to_dict
from thinkback.search.recipes.named import named


def load(path: str | Path) -> Recipe:
    """Read a recipe; `extends = "default"` starts from a named one."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"cannot read the recipe {path}: {error.strerror or error}", code="unreadable_file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path} is not TOML: {error}", code="unreadable_file") from None
    except ValueError as error:  # a NUL byte
        raise RecipeError(f"cannot read the recipe {str(path)!r:.200}: {error}", code="unreadable_file") from None
    return from_data(data, default_name=path.stem)


def from_data(data: dict[str, Any], default_name: str) -> Recipe:
    """A recipe from the data of a TOML table."""
    base = data.pop("extends", None)
    name = data.setdefault("name", default_name)
    if base is None:
        return from_dict(data)
    changed = merged(to_dict(named(str(base))), data)
    return from_dict({**changed, "name": name})


def dumps(recipe: Recipe) -> str:
    """The recipe as TOML; reading it back gives an equal recipe."""
    import tomli_w

    return tomli_w.dumps(to_dict(recipe))


def resolve(recipe: "str | Path | Recipe") -> Recipe:
    """A recipe by value, by name, or from a path that ends in .toml."""
    if isinstance(recipe, Recipe):
        return recipe
    if str(recipe).endswith(".toml"):
        return load(recipe)
    return named(str(recipe))
