"""Writes adapters/recipes/recipe.schema.json from the models of a recipe."""

from __future__ import annotations

import json

from adapters.recipe import SCHEMA, recipe_schema


def content() -> str:
    return json.dumps(recipe_schema(), indent=1) + "\n"


def main() -> None:
    SCHEMA.write_text(content())
    print(SCHEMA)


if __name__ == "__main__":
    main()
