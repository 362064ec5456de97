"""Writes the JSON Schemas of recipes and experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapters import recipe
from harness.commands.experiment import steps
from harness.experiments import file


def schemas() -> dict[Path, dict[str, Any]]:
    return {recipe.SCHEMA: recipe.recipe_schema(), file.SCHEMA: file.experiment_schema(steps())}


def content(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1) + "\n"


def main() -> None:
    for path, schema in schemas().items():
        path.write_text(content(schema))
        print(path)


if __name__ == "__main__":
    main()
