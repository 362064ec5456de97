"""Writes the JSON Schemas of recipes and suites from their models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapters import recipe
from harness.experiments import suite


def schemas() -> dict[Path, dict[str, Any]]:
    return {recipe.SCHEMA: recipe.recipe_schema(), suite.SCHEMA: suite.suite_schema()}


def content(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1) + "\n"


def main() -> None:
    for path, schema in schemas().items():
        path.write_text(content(schema))
        print(path)


if __name__ == "__main__":
    main()
