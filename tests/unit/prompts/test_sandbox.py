"""Templates from elsewhere: their rendering ends, takes bounded memory, and reaches nothing but its values."""

import os
from pathlib import Path
from typing import Any

import pytest

from prompts import sandbox
from prompts.sandbox import render_apart


def rendered(text: str, **values: Any) -> dict[str, str]:
    files = {"one": text, "two": "{% include 'three' %}", "three": "{% include 'two' %}"}
    return render_apart(str(hash(text)), files, "one", values)


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{{ 9 ** 99999999 }}",
        "{% set ns = namespace(x=3) %}{% for a in range(50) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(9999) %}{% for b in range(9999) %}xxxxxxxx{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{% include 'two' %}",
        "{% for a in [1, 2, 3] recursive %}{{ loop([1, 2, 3]) }}{% endfor %}", "{{ 'a' * 10 ** 12 }}", "{{ [0] * 10 ** 12 }}",
        "{{ ([0] * 100000) * 100000 }}", "{{ (5|round(-30000000))|string }}", "{{ 'a,'.split(',') * 10 ** 10 }}",
        "{% set ns = namespace(x='aaaa') %}{% for a in range(50) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{{ '%10000000000d' % 1 }}", "{{ [1]|tojson(indent=10000000000) }}",
        "{% set x = 'a' * 100000 %}{{ x.replace('a', x) }}",
        "{% set x = 'a' * 100000 %}{{ ([x] * 100000)|join }}", "{{ 'a'|indent(10000000000, true) }}",
    ],
)  # fmt: skip
def test_a_template_without_measure_is_given_up(text: str) -> None:
    assert list(rendered(text)) == ["fault"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ x.__class__ }}", "{{ x|attr('upper') }}", "{{ x['__class__'] }}", "{{ (x|string).__class__ }}", "{{ loop }}",
        "{{ '{0.__class__}'.format(x) }}", "{{ x.format_map({}) }}", "{{ x|format }}", "{{ lipsum(n=5) }}", "{{ cycler(1) }}",
        "{{ joiner() }}", "{{ dict(a=1) }}", "{{ x.encode() }}", "{{ 'a'.ljust(10) }}", "{{ 'a'.translate({}) }}",
        "{{ 'a'|center(9) }}", "{{ [1].append(2) }}", "{{ 'a'|random }}", "{{ 1 is callable }}", "{{ [1, 2]|batch(3, 0) }}",
        "{{ range.__globals__ }}", "{{ self._TemplateReference__context }}", "{{ namespace.__init__ }}", "{{ 'a'|xmlattr }}",
        "{{ 'a'|map('attr', 'x')|list }}", "{% macro f() %}{% endmacro %}{{ f.__call__ }}", "{{ 'a'|pprint }}",
        "{% for a in x %}{{ loop._iterator }}{% endfor %}", "{% import 'one' as m %}", "{{ x() }}", "{{ 1 .bit_length() }}",
    ],
)  # fmt: skip
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
