"""What answers cost: a table of prices, the tokens used so far, and limits that stop a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from operator import add
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from harness.errors import UsageError
from harness.util.settings import Strict

SHIPPED = Path(__file__).with_name("prices.yaml")
MILLION = 1_000_000

_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{2}-\d{4}|latest)$")

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Strict):
    """The price of a million tokens."""

    input: _Amount
    output: _Amount
    cached: _Amount | None = None
    """The price of prompt tokens from the endpoint's cache; None if it is that of other prompt tokens."""


class Prices(Strict):
    """A table of prices."""

    currency: str
    models: dict[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model by its name, with or without a date at its end; None if the table does not have it."""
        return self.models.get(model) or self.models.get(undated(model))


def undated(model: str) -> str:
    """A model's name without a date or version at its end, as in gpt-4o-2024-08-06."""
    return _DATED.sub("", model)


def read_prices(file: Path | None) -> Prices:
    """The user's table of prices, or the shipped one. Raises UsageError for a file that is not such a table."""
    import yaml

    path = file or SHIPPED
    try:
        return Prices.model_validate(yaml.safe_load(path.read_bytes()))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "content"
        raise UsageError(f"{path}: {where}: {first['msg']}; {SHIPPED} is an example") from None
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: not a table of prices: {' '.join(str(error).split())}; {SHIPPED} is an example") from None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of requests. `prompt` includes `cached`, and `completion` includes `reasoning`."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(*map(add, astuple(self), astuple(other)))

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> TokenUsage:
        """The tokens of a run's record; the prompt counts once for each sample."""
        numbers = [record.get(f"{key}_tokens") for key in ("prompt", "completion", "cached", "reasoning")]
        prompt, completion, cached, reasoning = (n if isinstance(n, int) else 0 for n in numbers)
        return cls(prompt * max(1, len(record.get("samples", ()))), completion, cached, reasoning)

    def __str__(self) -> str:
        notes = [f"{count:,} {name}" for count, name in ((self.cached, "cached"), (self.reasoning, "reasoning")) if count]
        return f"{self.prompt:,} + {self.completion:,} tokens" + (f" ({', '.join(notes)})" if notes else "")


@dataclass(slots=True)
class Spending:
    """What a run has used so far, and how much it may use; `max_cost` is in the currency of the prices."""

    price: Price | None = None
    currency: str = ""
    max_cost: float | None = None
    max_tokens: int | None = None
    tokens: TokenUsage = TokenUsage()

    @property
    def cost(self) -> float | None:
        """In `currency`; None without a price."""
        if self.price is None:
            return None
        tokens, price = self.tokens, self.price
        cached = min(tokens.cached, tokens.prompt)
        prompt = (tokens.prompt - cached) * price.input + cached * (price.input if price.cached is None else price.cached)
        return (prompt + tokens.completion * price.output) / MILLION

    @property
    def amount(self) -> str:
        """The cost and its currency, with two decimals, or four below 1; empty without a price."""
        cost = self.cost
        return "" if cost is None else f"{cost:,.{2 if cost >= 1 else 4}f} {self.currency}"

    def reached(self) -> str | None:
        """The limit that is reached, in words; None if none is."""
        if self.max_cost is not None and self.cost is not None and self.cost >= self.max_cost:
            return f"--max-cost {self.max_cost:g} is reached ({self})"
        if self.max_tokens is not None and self.tokens.total >= self.max_tokens:
            return f"--max-tokens-total {self.max_tokens} is reached ({self})"
        return None

    def __str__(self) -> str:
        return ", ".join(filter(None, (str(self.tokens), self.amount)))
