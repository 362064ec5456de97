"""A client of the task API."""

from typing import Any, Self

from harness.errors import EngineError
from harness.service.schema import ExecuteResponse, Player


class Client:
    """Sends requests to a server that `harness serve` runs.

        with harness.Client("http://127.0.0.1:8000") as client:
            done = client.execute("hexagons", "Paint the first column red.")
            done.actions, done.board

    `timeout` is in seconds, for one request. `key` is sent as a bearer token. Raises UsageError for a URL or a key that no
    request can have.
    """

    def __init__(self, url: str = "http://127.0.0.1:8000", *, key: str | None = None, timeout: float = 60.0) -> None:
        import httpx2

        from harness.engines.openai.endpoint import clean_key, split_url

        split_url(url)
        headers = {"Authorization": f"Bearer {clean_key(key, 'key')}"} if key else {}
        self._http = httpx2.Client(base_url=url.rstrip("/").removesuffix("/v1"), headers=headers, timeout=timeout)

    def players(self) -> list[Player]:
        """The players that can answer. Raises EngineError if the server does not answer."""
        return [Player.model_validate(one) for one in self._ask("GET", "/v1/harness/players")]

    def execute(self, task: str, instruction: str, model: str | None = None, **fields: Any) -> ExecuteResponse:
        """The actions, and the state after them. If `model` is None, the first of `players` that knows the task answers.

        `fields` are further fields of `DrawRequest` or `BuildRequest`: board, blocks, pose, history, samples, constrain. Raises
        EngineError, with the server's reason, for a request that it refuses."""
        body = {"task": task, "instruction": instruction, "model": model, **fields}
        return ExecuteResponse.model_validate(self._ask("POST", "/v1/harness/execute", json=body))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        import httpx2

        try:
            response = self._http.request(method, path, **options)
        except httpx2.HTTPError as error:
            raise EngineError(f"no answer from {self._http.base_url}: {error or type(error).__name__}") from error
        try:
            body = response.json()
        except ValueError:
            raise EngineError(f"{self._http.base_url} does not speak the task API (status {response.status_code})") from None
        if response.is_success:
            return body
        message = body.get("error", {}).get("message", body) if isinstance(body, dict) else body
        raise EngineError(f"{self._http.base_url} refuses: {message}")
