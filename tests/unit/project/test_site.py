"""The site of docs/ builds without a warning, and the links of pages outside it lead to files."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.helpers import ROOT


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["--config-file", str(ROOT / "mkdocs.yml"), "--site-dir", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


class Links(HTMLParser):
    """The links of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        loads = ("img", "script", "link")
        self.found += [value for key, value in attrs if value and (key == "href" or (tag in loads and key == "src"))]


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    """Nothing is loaded from other sites."""
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} < {page.stem for page in pages}
    for page in pages:
        loaded = re.findall(r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:[^\"]*)", page.read_text())
        assert not loaded, page.name
        for link in Links(page.read_text()).found:
            if not re.match(r"\w+:|#|/", link):
                assert (page.parent / link.partition("#")[0]).exists(), f"{page.relative_to(tmp_path)}: {link}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "requirements/README.md"])
def test_links_of_pages_outside_the_site_lead_to_files(name: str) -> None:
    page = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not re.match(r"\w+:|#", link):
            assert (page.parent / link.partition("#")[0]).exists(), link
