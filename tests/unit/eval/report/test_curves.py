"""The picture of a training."""

from __future__ import annotations

from xml.etree import ElementTree

from eval.report.curves import training_curve


def test_a_training_shows_what_was_measured_and_the_step_that_was_kept() -> None:
    points = [{"step": 0, "dev_loss": 2.0, "dev_f1": 0.1}, {"step": 5, "train_loss": 1.0, "dev_loss": 1.5, "dev_f1": 0.25}]
    drawn = training_curve(points, 5)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert all(word in drawn for word in ("train loss", "dev loss", "F1 on dev, percent", "kept", ">25<"))
    assert drawn == training_curve(points, 5)
    plain = training_curve([{"step": 3, "epoch": 1, "train_loss": 1.0, "dev_loss": 2.0}], None)
    assert "kept" not in plain
    assert "F1" not in plain
