"""Prices, tokens and limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engines.openai.spending import Price, Spending, TokenUsage, read_prices
from harness.errors import UsageError

PRICE = Price(input=2, cached=0.5, output=10)


def test_cached_tokens_have_a_price_of_their_own() -> None:
    spending = Spending(PRICE, "USD", tokens=TokenUsage(1_000_000, 100_000, 400_000, 90_000))
    assert spending.cost == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10)
    assert str(spending) == "1,000,000 + 100,000 tokens (400,000 cached, 90,000 reasoning), 2.40 USD"
    assert Spending(PRICE.model_copy(update={"cached": None}), tokens=spending.tokens).cost == pytest.approx(3.0)


def test_a_record_counts_its_prompt_for_every_sample() -> None:
    record = {"prompt_tokens": 10, "completion_tokens": 6, "samples": ["a", "b", "c"], "reasoning_tokens": 2}
    assert TokenUsage.of_record(record) == TokenUsage(30, 6, 0, 2)
    assert TokenUsage.of_record({"error": "429"}) == TokenUsage()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not a table of prices"),
        ("- 1", "content"),
        ("currency: USD\nmodels: {m: {input: -1, output: 1}}", "models.m.input"),
    ],
)
def test_a_bad_table_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_prices(tmp_path / "p.yaml")
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="not a table of prices"):
        read_prices(tmp_path / "missing.yaml")
    assert read_prices(None).of("gpt-4o-mini-2024-07-18")
