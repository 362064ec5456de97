"""The site of docs/ builds without a warning, and the links of all pages lead to files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    """Nothing is loaded from other sites."""
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} < {page.stem for page in pages}
    for page in pages:
        text = page.read_text()
        assert not re.search(r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"https?:", text), page.name
        for link in re.findall(r"<[^>]* (?:href|src)=\"([^\"]+)\"", text):
            if not re.match(r"\w+:|#|/", link):
                assert (page.parent / link.partition("#")[0]).exists(), f"{page.relative_to(tmp_path)}: {link}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "requirements/README.md"])
def test_links_of_pages_outside_the_site_lead_to_files(name: str) -> None:
    page = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not re.match(r"\w+:|#", link):
            assert (page.parent / link.partition("#")[0]).exists(), link
