"""The extras of this package (pyproject.toml), and what a command says whose extra is not installed."""

import re
from collections import defaultdict
from importlib.util import find_spec

PACKAGE = "grid-world-harness"
OF_COMMANDS = {"app": "page", "models": "train", "serve": "serve", "show": "plot"}
"""The extras of commands that need a package of several extras."""

_LINE = re.compile(r"(?P<name>[\w.-]+)[^;]*;.*\bextra == [\"'](?P<extra>[\w-]+)")


def require(module: str) -> None:
    """Raises ModuleNotFoundError, of which the command line makes a line, if a module is not installed. It is not imported."""
    if find_spec(module) is None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def missing_extra(command: str, module: str) -> str | None:
    """What a command lacks that cannot import a module, and the line that installs it; None if no extra has the module."""
    from importlib import metadata

    extras = defaultdict(list)
    try:
        for line in metadata.requires(PACKAGE) or ():
            if found := _LINE.match(line):
                extras[found["extra"]].append(found["name"])
    except metadata.PackageNotFoundError:
        return None
    package = module.partition(".")[0].replace("_", "-")
    having = sorted(extra for extra, packages in extras.items() if package in packages)
    if not having:
        return None
    extra = next((one for one in having if one == OF_COMMANDS.get(command)), having[0])
    *others, last = (name for name in extras[extra] if find_spec(name.replace("-", "_")) is None)
    names = f"{', '.join(others)} and {last}, which are" if others else f"{last}, which is"
    return f"harness {command} needs {names} not installed: pip install '{PACKAGE}[{extra}]'"
