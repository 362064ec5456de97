"""Templates from elsewhere: their rendering ends, takes bounded memory, and reaches nothing but its values."""

import os
from pathlib import Path
from typing import Any

import pytest

from prompts import sandbox
from prompts.sandbox import render_apart
from tests.helpers import cases

CASES = cases(__file__)


def rendered(text: str, **values: Any) -> dict[str, str]:
    files = {"one": text, "two": "{% include 'three' %}", "three": "{% include 'two' %}"}
    return render_apart(str(hash(text)), files, "one", values)


@pytest.mark.parametrize("text", CASES["without end"])
def test_a_template_without_end_is_given_up(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "SECONDS", 1)
    assert rendered(text) == {"fault": "one: it takes more than 1 seconds or 512 MB"}
    assert rendered("a{{ x }}", x="b") == {"text": "ab"}


@pytest.mark.parametrize("stuck", ["SIGSTOP", "SIGKILL"])
def test_a_process_that_does_not_answer_is_replaced(stuck: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    assert rendered("a") == {"text": "a"}
    child = sandbox._children[os.getpid()]._process
    assert child
    monkeypatch.setattr(sandbox, "PATIENCE", 0.5)
    os.kill(child.pid, getattr(signal, stuck))
    assert "fault" in rendered("a")
    assert child.poll() is not None
    monkeypatch.undo()
    assert rendered("a") == {"text": "a"}


@pytest.mark.parametrize("text", CASES["without measure"])
def test_a_template_without_measure_is_given_up(text: str) -> None:
    assert list(rendered(text)) == ["fault"]


@pytest.mark.parametrize("text", CASES["not listed"])
def test_a_template_uses_only_what_is_listed(text: str) -> None:
    assert list(rendered(text, x="abc")) == ["fault"]


def test_the_process_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setattr(sandbox, "_children", {})
    assert rendered("a") == {"text": "a"}
    child = sandbox._children[os.getpid()]
    assert child._process
    assert b"secret" not in Path(f"/proc/{child._process.pid}/environ").read_bytes()
    child.close()


def test_an_ordinary_template_is_rendered_as_ever() -> None:
    text = "{% macro cell(a, b) %}{{ a ~ '-' ~ b }}{% endmacro %}{% for a in items %}{{ cell(a, loop.index) }}\n{% endfor %}"
    text += "{{ '%02d' % 7 }}{% set ns = namespace(n=1) %}{% set ns.n = ns.n + 1 %}{{ ns.n }}"
    text += "{% if d.a is defined %}{{ d.a }}{% endif %}"
    text += "{{ items.upper()|lower|replace('x', 'z')|trim }}{% for k, v in d.items() %}{{ k }}{{ loop.last }}{% endfor %}"
    assert rendered(text, items="xy", d={"a": 3}) == {"text": "x-1\ny-2\n0723zyaTrue"}
