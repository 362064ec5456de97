"""Keeps vLLM running: starts it, and starts it again when it ends."""

import time
from collections import deque
from collections.abc import Callable
from typing import Literal, NoReturn, Self

from harness.engines.vllm.server import Server
from harness.errors import EngineError

MOST, WITHIN = 5, 600.0
"""The most times that vLLM is started again, and the seconds within which its ends count."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds before vLLM is started again: the first pause, which doubles each time, and the longest."""

State = Literal["starting", "up", "restarting", "down"]


class Supervisor:
    """Owns the server that `make(again)` builds, where `again` says that one was running before. Use it in a `with`.

    Only the thread that entered the `with` may call `begin` and `watch`; any thread may read the attributes.
    """

    def __init__(self, make: Callable[[bool], Server], say: Callable[[str], None]) -> None:
        self._make, self._say = make, say
        self._server: Server | None = None
        self._ends: deque[float] = deque(maxlen=MOST)
        self.state: State = "starting"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.state = "down"
        self._stop()

    def begin(self, again: bool = False) -> None:
        """Start the server, and block until it answers. Raises EngineError if it fails."""
        begun = time.monotonic()
        self._server = self._make(again)
        self._server.__enter__()
        self._server.wait_until_ready()
        self.state = "up"
        if again:
            self._say(f"vLLM is up again, {time.monotonic() - begun:.0f} s after it was started")

    def watch(self) -> NoReturn:
        """Block, and start the server again whenever it ends. Raises EngineError when it has ended too often."""
        while True:
            try:
                if self._server is None:
                    self.begin(again=True)
                assert self._server is not None
                self._server.wait()
            except EngineError as error:
                self.state = "restarting"
                self._stop()
                now = time.monotonic()
                if len(self._ends) == MOST and now - self._ends[0] < WITHIN:
                    raise EngineError(f"vLLM ended {MOST + 1} times within {WITHIN / 60:.0f} minutes: {error}") from error
                self._ends.append(now)
                recent = sum(now - end < WITHIN for end in self._ends)
                seconds = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (recent - 1))
                self._say(f"{error}; starting it again in {seconds:.0f} s")
                time.sleep(seconds)

    def _stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None
