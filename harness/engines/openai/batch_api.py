"""The batch API of an endpoint: all prompts in one file, answered within a day, at a lower price."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.engines.engine import Completion, Sampling
from harness.engines.openai.endpoint import Failure
from harness.engines.openai.engine import OpenAIEngine
from harness.engines.shared import brief
from harness.errors import EngineError
from harness.util.files import write_atomically
from harness.util.hashing import json_hash
from prompts.rendered import Rendered

log = logging.getLogger(__name__)

MOST = 50_000
"""The most requests that OpenAI takes in a batch."""
MAX_FILE = 1_000_000_000
"""The largest file of a batch's answers that is read, in bytes."""
NAME = "batches.json"
"""The file in the run's folder that lists the batches whose answers are not yet read, with the ids of their requests."""

ENDED = ("completed", "failed", "expired", "cancelled")


class BatchEngine(OpenAIEngine):
    """Sends all prompts of a call of `generate` as one batch and checks every `poll` seconds whether it is done.

    The batches are recorded in `folder` until their answers are read, so that a run that was killed while it waited finds
    its batch again. One ordinary request before each batch finds out which parameters the model takes.
    """

    def __init__(self, *given: Any, poll: float = 30.0, **options: Any) -> None:
        super().__init__(*given, **options)
        self._poll = poll
        self.batch_size = MOST

    def generate(self, prompts: Sequence[Rendered], sampling: Sampling) -> Iterator[Completion]:
        """See `Engine.generate`. Raises EngineError as OpenAIEngine does, and for a batch that fails as a whole."""
        if not prompts:
            return
        keys = [_key(prompt, sampling) for prompt in prompts]
        missing = [n for n, key in enumerate(keys) if not any(key in known for known in self._known().values())]
        if missing:
            self.characters_per_token(prompts[missing[0]], sampling)
        answers: dict[str, Completion] = {}
        loop = self._loop()
        try:
            if missing:
                loop.run_until_complete(self._submit({keys[n]: prompts[n] for n in missing}, sampling))
            for batch, known in self._known().items():
                if not known.isdisjoint(keys):
                    answers |= loop.run_until_complete(self._collect(batch, known, sampling))
        except Failure as failure:
            raise EngineError(f"{self._endpoint.shown}: {failure}; run the same command again to go on") from None
        for key in keys:
            yield answers[key]
        self._forget(keys)

    def _known(self) -> dict[str, set[str]]:
        """The batches whose answers are not yet read, with the keys of their requests."""
        path = self.folder / NAME if self.folder else None
        if path is None or not path.is_file():
            return {}
        try:
            return {str(batch): set(map(str, keys)) for batch, keys in json.loads(path.read_bytes()).items()}
        except (ValueError, AttributeError, TypeError) as error:
            raise EngineError(f"{path} cannot be read: {brief(error)}; remove it to ask for its batches again") from None

    def _keep(self, batches: Mapping[str, set[str]]) -> None:
        assert self.folder is not None, "batches are recorded in the run's folder"
        write_atomically(self.folder / NAME, json.dumps({batch: sorted(keys) for batch, keys in batches.items()}) + "\n")

    def _forget(self, keys: Sequence[str]) -> None:
        """Drop the batches whose answers the run now has; items that failed go into a new batch when they are asked again."""
        left = {batch: known for batch, known in self._known().items() if known.isdisjoint(keys)}
        if left:
            self._keep(left)
        elif self.folder:
            (self.folder / NAME).unlink(missing_ok=True)

    async def _submit(self, prompts: Mapping[str, Rendered], sampling: Sampling) -> None:
        """Upload the requests and start their batch."""
        path = f"/v1{self._path}"
        lines = [
            json.dumps({"custom_id": key, "method": "POST", "url": path, "body": self._shape.body(prompt, sampling)}) + "\n"
            for key, prompt in prompts.items()
        ]
        upload = {"file": ("requests.jsonl", "".join(lines).encode(), "application/jsonl")}
        file = await self._endpoint.request("POST", "/files", data={"purpose": "batch"}, files=upload)
        request = {"input_file_id": file.get("id"), "endpoint": path, "completion_window": "24h"}
        batch = str((await self._endpoint.post("/batches", request)).get("id") or "")
        if not batch:
            raise Failure("it gives the batch no id")
        self._keep({**self._known(), batch: set(prompts)})
        self._say(f"batch {batch}: {len(prompts)} requests; it may take a day; if the command is stopped, run it again")

    async def _collect(self, batch: str, keys: set[str], sampling: Sampling) -> dict[str, Completion]:
        """Wait until a batch ends; its answers by key."""
        status = await self._ended(batch)
        outcome = str(status.get("status"))
        lines: list[bytes] = []
        for name in ("output_file_id", "error_file_id"):
            if isinstance(file := status.get(name), str) and file:
                lines += (await self._endpoint.raw("GET", f"/files/{file}/content", most=MAX_FILE)).splitlines()
        if outcome == "failed" and not lines:
            self._forget(sorted(keys))
            raise EngineError(f"batch {batch} failed: {self._endpoint.tell(json.dumps(status.get('errors')))}")
        answers = {key: Completion(error=f"batch {batch} ended ({outcome}) without an answer to this item") for key in keys}
        for line in lines:
            key, completion = self._of_line(line, sampling)
            if key in keys:
                answers[key] = completion
        return answers

    async def _ended(self, batch: str) -> dict[str, Any]:
        while True:
            status = await self._endpoint.request("GET", f"/batches/{batch}")
            counts = status.get("request_counts")
            log.info("batch %s: %s %s", batch, status.get("status"), counts)
            if isinstance(counts, dict) and isinstance(counts.get("completed"), int):
                self.report(counts["completed"])
            if status.get("status") in ENDED:
                return status
            await asyncio.sleep(self._poll)

    def _of_line(self, line: bytes, sampling: Sampling) -> tuple[str, Completion]:
        try:
            fields = json.loads(line)
            key, response = str(fields["custom_id"]), fields.get("response") or {}
            status, body = response.get("status_code"), response.get("body")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return "", Completion()
        if status != 200 or not isinstance(body, dict):
            reason = self._endpoint.tell(json.dumps(fields.get("error") or body))
            return key, Completion(error=f"the endpoint failed: {status} {reason}")
        try:
            return key, self._read(body, sampling)
        except Failure as failure:
            return key, Completion(error=failure.message)


def _key(prompt: Rendered, sampling: Sampling) -> str:
    """The id of a request; the same item gets the same id when the run resumes."""
    return json_hash([prompt.id, prompt.text, list(prompt.messages), repr(sampling)])
