"""A headless Chromium for tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_OPTIONS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
FLAT = ("--disable-gpu",)
SOLID = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""Options for drawing in 3D without a graphics card."""


@contextmanager
def chromium(drawing: tuple[str, ...]) -> Iterator[Browser]:
    """A browser with the options FLAT or SOLID. Skips the test if Chromium is missing."""
    names = (os.environ.get("HARNESS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no chromium on PATH, and HARNESS_CHROMIUM names none")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=[*_OPTIONS, *drawing])
        yield browser
        browser.close()
