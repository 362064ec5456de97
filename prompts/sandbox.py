"""Templates from elsewhere are rendered in a process of their own, with limits of time and memory and no keys in its environment.

There, a template may use the filters, tests and methods that are listed here. This file is also that process's program.
"""

import atexit
import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, TemplateNotFound
from jinja2.environment import TemplateModule
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

SECONDS, PATIENCE, MEMORY = 5, 60.0, 512 << 20
"""Seconds of processor time and seconds in all that a rendering may take, and bytes of its process; ours take milliseconds."""
MOST_CHARACTERS = 5_000_000
"""The largest size of a rendered text: more than the longest context holds."""

_FILTERS = """abs capitalize d default dictsort first float indent int items join last length list lower map max min
reject rejectattr replace reverse round select selectattr sort string title tojson trim truncate unique upper wordwrap"""
_TESTS = "boolean defined divisibleby eq even false in integer iterable lower mapping ne none number odd string true undefined"
_TEXT_METHODS = """capitalize count endswith find isdigit join lower lstrip partition removeprefix removesuffix replace
rpartition rstrip split splitlines startswith strip title upper"""
_METHODS: dict[type, list[str]] = {str: _TEXT_METHODS.split(), list: ["count", "index"], dict: ["get", "items", "keys", "values"]}


class _Sandbox(ImmutableSandboxedEnvironment):
    """An environment in which a template reaches nothing but its values and what is listed above."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters = {name: self.filters[name] for name in _FILTERS.split()}
        self.tests = {name: self.tests[name] for name in _TESTS.split()}
        self.globals = {name: self.globals[name] for name in ("namespace", "range")}

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        known = isinstance(obj, LoopContext | Namespace | TemplateModule) or attr in _METHODS.get(type(obj), ())
        return known and not attr.startswith("_")

    def is_safe_callable(self, obj: Any) -> bool:
        owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        own = isinstance(obj, Macro | BlockReference | LoopContext) or obj in self.globals.values()
        return own or isinstance(owner, LoopContext) or name in _METHODS.get(type(owner), ())


def environment(files: Mapping[str, str], *, foreign: bool = False) -> Environment:
    """An environment of templates by their names."""
    return (_Sandbox if foreign else Environment)(
        loader=FunctionLoader(lambda name: (files[name], name, None) if name in files else None),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(templates: Environment, file: str, values: Mapping[str, Any]) -> dict[str, str]:
    """The "text" of a template, or the "fault" in it, with file and line: a user's file may fail in any way."""
    try:
        text = templates.get_template(file).render(values)
    except TemplateNotFound as error:
        return {"fault": f"it has no {error.name}, and prompts/templates/ has none"}
    except Exception as error:  # noqa: BLE001
        return {"fault": f"{_place(error, file)}: {' '.join(str(error).split()) or type(error).__name__}"}
    return {"text": text} if len(text) <= MOST_CHARACTERS else {"fault": f"{file}: its text is too long"}


def _place(error: Exception, file: str) -> str:
    """The innermost place in a template's file that an error comes from."""
    if getattr(error, "lineno", None):
        return f"{getattr(error, 'filename', None) or file}:{error.lineno}"  # type: ignore[attr-defined]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.endswith((".py", ">"))]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else file


class _Child:
    """The process, which is started for the first rendering, and again after one that it did not survive."""

    def __init__(self) -> None:
        self._lock, self._known = threading.Lock(), set[str]()
        self._process: subprocess.Popen[bytes] | None = None

    def render(self, key: str, files: Mapping[str, str], file: str, values: Mapping[str, Any]) -> dict[str, str]:
        """As `render_apart`."""
        with self._lock:
            process = self._process = self._process or self._start()
            assert process.stdin and process.stdout  # noqa: PT018
            own = None if key in self._known else files
            request = {"key": key, "file": file, "values": values, "seconds": SECONDS, "files": own}
            with suppress(OSError, ValueError):
                process.stdin.write(json.dumps(request, default=asdict).encode() + b"\n")
                process.stdin.flush()
                ready = select.select([process.stdout], [], [], PATIENCE)[0]
                answer: dict[str, str] = json.loads(process.stdout.readline() if ready else b"")
                self._known.add(key)
                return answer
            self.close()
        return {"fault": f"{file}: it takes more than {SECONDS} seconds or {MEMORY >> 20} MB"}

    def _start(self) -> subprocess.Popen[bytes]:
        atexit.register(self.close)
        program, variables = [sys.executable, "-P", __file__], {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        pipe = subprocess.PIPE
        return subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=variables)

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.kill()
            with suppress(OSError):
                self._process.communicate()
        self._process, self._known = None, set()


_children: dict[int, _Child] = {}


def render_apart(key: str, files: Mapping[str, str], file: str, values: Mapping[str, Any]) -> dict[str, str]:
    """As `render`, in a process of its own. `key` stands for the files."""
    # Not shared with a process that is forked from this one.
    return _children.setdefault(os.getpid(), _Child()).render(key, files, file, values)


def main() -> None:
    """Answer requests, a line of JSON each, until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    known: dict[str, Environment] = {}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["files"]:
            known[request["key"]] = environment(request["files"], foreign=True)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + request["seconds"], hard))
        print(json.dumps(render(known[request["key"]], request["file"], request["values"])), flush=True)


if __name__ == "__main__":
    main()
