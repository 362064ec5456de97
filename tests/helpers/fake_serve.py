"""`harness` with the stand-in for vLLM: all of `harness serve` except the model."""

import sys
from functools import partial

from harness.cli import main
from harness.engines.vllm.server import Server
from harness.service import serving

if __name__ == "__main__":
    vars(serving)["Server"] = partial(Server, command=(sys.executable, "-m", "tests.helpers.fake_vllm"))
    sys.exit(main())
