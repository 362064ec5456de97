"""Writes the JSON Schema of recipes."""

from __future__ import annotations

import json

from adapters import recipe


def content() -> str:
    return json.dumps(recipe.recipe_schema(), indent=1) + "\n"


def main() -> None:
    recipe.SCHEMA.write_text(content())
    print(recipe.SCHEMA)


if __name__ == "__main__":
    main()
