"""A hook of mkdocs: it adds pages from outside docs/ to the site, and makes links lead to their places there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = "docs/"
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File

    for own, there in config.extra["elsewhere"].items():
        files.append(File.generated(config, there, abs_src_path=str(ROOT / own)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    there = page.file.src_uri
    elsewhere: dict[str, str] = config.extra["elsewhere"]
    own = {place: file for file, place in elsewhere.items()}.get(there, DOCS + there)
    return _LINK.sub(partial(_link, own, there, elsewhere), markdown)


def _link(own: str, there: str, elsewhere: Mapping[str, str], match: re.Match[str]) -> str:
    """The link from the file `own`, which is at `there` on the site. What is not on the site stays as it is, and mkdocs warns."""
    target = normpath(join(dirname(own), match[1]))
    if target not in elsewhere and not target.startswith(DOCS):
        return match[1]
    return relpath(elsewhere.get(target, target.removeprefix(DOCS)), dirname(there) or ".")
