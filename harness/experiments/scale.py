"""Scales: what lets every experiment run to its end on a small machine, declared once for all files."""

from __future__ import annotations

from pathlib import Path

from harness.engines.models.bases import load_config, load_tokenizer, resolve_base
from harness.engines.shared import quiet_transformers
from harness.experiments.file import Options
from harness.util.files import cache_folder, made_once
from harness.util.settings import Positive, Strict, checked, read_values

SCALES = Path(__file__).parent / "scales"


class Scale(Strict):
    """Options that replace those of every row. The items are the shipped samples'."""

    grid: Positive
    """The most values that a list keeps."""
    options: dict[str, Options]
    """By step: see `Experiment`."""
    trainings: dict[str, Options]
    """By baseline or recipe, options of its training, with `set`."""
    tests: Options
    """Options of tests that have them."""

    def training(self, subject: str, values: Options) -> Options:
        """The options of a training in this scale."""
        over = self.trainings.get(subject, {})
        return values | over | {"set": {**values.get("set", {}), **over.get("set", {})}}


def load_scale(name: str) -> Scale:
    """A scale; the base "random" in its options becomes the folder of `random_base`."""
    path = SCALES / f"{name}.yaml"
    values = read_values(path, "scale")
    for block in values["trainings"].values():
        if block.get("base") == "random":
            block["base"] = str(random_base())
    return checked(Scale, path, values)


def random_base() -> Path:
    """The folder of a miniature of the default base with random weights, made in a second."""
    folder = cache_folder() / "random" / "miniature-1"
    made_once(folder, _make)
    return folder


def _make(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    from adapters.base_check import miniature

    base = resolve_base(None)
    with torch.random.fork_rng(), quiet_transformers():
        torch.manual_seed(0)
        AutoModelForCausalLM.from_config(miniature(load_config(base))).save_pretrained(folder)
    load_tokenizer(base).save_pretrained(folder)
