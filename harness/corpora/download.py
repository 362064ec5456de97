"""Downloads a published corpus from its authors' repository: one archive, of which the files that the loader reads are kept."""

import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from harness.corpora import archive, corpus_of, data_folder
from harness.corpora.records import to_record
from harness.errors import DataError, HarnessError, UsageError
from harness.tasks import Published
from harness.tasks.registry import TASKS
from harness.util.files import cache_folder, filled
from harness.util.terminal import bar

if TYPE_CHECKING:
    from httpx2 import Response

MOST_DOWNLOADED = 2_000_000_000
"""The most bytes of an archive."""


def get(task: str, host: str) -> Path:
    """Download the corpus of a task into its folder below `data_folder`, and return this folder.

    The folder is complete or absent: items with another sum than the task states are refused. A download that was interrupted
    goes on where it ended if the host can continue it. Raises UsageError for a task without a published corpus and for a folder
    that holds something else, DataError for a damaged archive, and HarnessError if the host or the disk fails.
    """
    published, target = TASKS[task].published, data_folder() / task
    if published is None:
        raise UsageError(f"{task} has no published corpus to download: its items come with their package")
    if target.exists() and (found := corpus_of(task).find(target)):
        if items_sha256(task, found) == published.items_sha256:
            return target
        raise UsageError(f"{found} holds other items of {task} than {published.repository} does: move it away, then try again")
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"{target} is not empty and holds no corpus: move its files away, then try again")
    packed = cache_folder() / "downloads" / f"{task}-{published.revision[:12]}.tar.gz"
    try:
        if not packed.is_file():
            _download(f"{host}/{published.repository}/archive/{published.revision}.tar.gz", packed)
        with filled(target) as folder:
            _unpack(task, published, packed, folder)
    except OSError as error:
        raise HarnessError(f"{error.filename or target}: cannot be written: {error.strerror or error}") from None
    packed.unlink()
    return target


def items_sha256(task: str, source: Path) -> str:
    """The sha256 of all items of a source, as `harness data items` prints them, in hexadecimal. Raises DataError."""
    total = hashlib.sha256()
    for item in corpus_of(task).items(source, TASKS[task].splits):
        total.update(json.dumps(to_record(item), ensure_ascii=False).encode() + b"\n")
    return total.hexdigest()


def _unpack(task: str, published: Published, packed: Path, folder: Path) -> None:
    """Write the files of the archive that the loader reads, and check the items in them. Raises DataError."""

    own = PurePosixPath(published.folder).parts

    def path_of(name: str) -> PurePosixPath | None:
        """The path in the task's folder; None for a file that is not needed. A name begins with a folder of the host's."""
        _, *parts = PurePosixPath(name).parts
        path = PurePosixPath(*parts[len(own) :])
        patterns = (one for one in published.files if len(PurePosixPath(one).parts) == len(path.parts))
        needed = tuple(parts[: len(own)]) == own and ".." not in parts and any(map(path.match, patterns))
        return path if needed else None

    try:
        for name, content in archive.members(packed, path_of):
            path = folder / (path_of(name) or "")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        source = corpus_of(task).find(folder)
        if source is None:
            raise DataError(f"{packed} holds no corpus of {task}; fetch it again")
        if (found := items_sha256(task, source)) != published.items_sha256:
            raise DataError(f"the sha256 of the items of {task} is {found}, not {published.items_sha256}: nothing is kept")
    except DataError:
        packed.unlink(missing_ok=True)
        raise


def _download(url: str, path: Path) -> None:
    """Download a file, on from where an earlier attempt ended. Raises HarnessError if the host cannot be reached or refuses."""
    from httpx2 import Client, HTTPError, InvalidURL

    partial = path.with_name(f"{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    have = partial.stat().st_size if partial.is_file() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with Client(follow_redirects=True, timeout=30) as client, client.stream("GET", url, headers=headers) as response:
            # 416: nothing is left to send.
            if response.status_code != 416:
                response.raise_for_status()
                _write(response, partial, have if response.status_code == 206 else 0)
    except (HTTPError, InvalidURL) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HarnessError(f"{url} cannot be downloaded: {reason}; try again, or get it by hand (docs/data.md)") from None
    partial.rename(path)


def _write(response: "Response", partial: Path, have: int) -> None:
    """Write what a host sends after the first `have` bytes. Raises HarnessError if it is too much."""
    whole = have + int(response.headers.get("Content-Length", 0))
    with bar("downloading", whole // 1_000_000, unit="MB") as update, partial.open("ab") as file:
        file.truncate(have)
        for piece in response.iter_raw(1 << 16):
            file.write(piece)
            update(file.tell() // 1_000_000)
            if file.tell() > MOST_DOWNLOADED:
                raise HarnessError(f"{response.url} sends more than {MOST_DOWNLOADED:,} bytes and is no corpus")
