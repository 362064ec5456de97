"""Untrusted templates: their rendering ends, and their text is bounded."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from jinja2 import DictLoader
from jinja2.exceptions import TemplateError

from prompts.sandbox import MOST_CHARACTERS, BoundedEnvironment


def rendered(text: str, **values: Any) -> str:
    return BoundedEnvironment(loader=DictLoader({"one": text}), trim_blocks=True).rendered("one", values)


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% for a in [1, 2, 3] recursive %}{{ loop([1, 2, 3]) }}{% endfor %}", "{{ 'a' * 10 ** 12 }}", "{{ 9 ** 99999999 }}",
        "{{ ([0] * 100000) * 100000 }}",
        "{% set ns = namespace(x='aaaa') %}{% for a in range(50) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='aaaa') %}{% for a in range(50) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for a in range(50) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{{ 'a'|center(10000000000) }}", "{{ 'a'.ljust(10000000000) }}", "{{ '%10000000000d' % 1 }}",
        "{{ '%*d' % (10000000000, 1) }}", "{{ '{:10000000000}'.format(1) }}", "{{ '%10000000000d'|format(1) }}",
        "{% set x = 'a' * 100000 %}{{ x|replace('a', x) }}", "{% set x = 'a' * 100000 %}{{ x.replace('a', x) }}",
        "{% set x = 'a' * 100000 %}{{ x.translate({97: x}) }}", "{% set x = 'a' * 100000 %}{{ ([x] * 100000)|join }}",
        "{{ ('\t' * 100000).expandtabs(100000) }}",
    ],
)  # fmt: skip
def test_a_template_without_end_or_measure_is_given_up(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises((TemplateError, RecursionError)):
            rendered(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * MOST_CHARACTERS


def test_an_ordinary_template_is_rendered_as_ever() -> None:
    text = "{% macro cell(a, b) %}{{ a ~ '-' ~ b }}{% endmacro %}{% for a in items %}{{ cell(a, loop.index) }}\n{% endfor %}"
    text += "{{ '%02d' % 7 }}"
    assert rendered(text, items="xy") == "x-1\ny-2\n07"
