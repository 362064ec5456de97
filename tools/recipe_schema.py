"""Writes the JSON Schema of recipes."""

from __future__ import annotations

import json
from typing import Any

from adapters import recipe


def content(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1) + "\n"


def main() -> None:
    recipe.SCHEMA.write_text(content(recipe.recipe_schema()))
    print(recipe.SCHEMA)


if __name__ == "__main__":
    main()
