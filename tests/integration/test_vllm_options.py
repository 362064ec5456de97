"""vLLM's own options: parsed by its own parser, refused in one line, passed on and recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.engines.vllm.options import engine_options, recorded, serve_options
from harness.errors import UsageError

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


def test_names_and_types_are_those_of_vllm() -> None:
    words = "--pipeline-parallel-size 2 --distributed-executor-backend ray -tp 2 --hf-overrides.rope_theta 3"
    pairs = ["max_num_seqs=512", "enforce_eager=true", "enable_prefix_caching=false", "download_dir=/tmp"]
    given = engine_options(pairs, words.split())
    # A run records what may change an answer, as plain values.
    parallel = {"pipeline_parallel_size": 2, "distributed_executor_backend": "ray", "tensor_parallel_size": 2}
    others = {"max_num_seqs": 512, "enforce_eager": True, "enable_prefix_caching": False, "hf_overrides": "{'rope_theta': 3}"}
    assert recorded(given) == {**parallel, **others}


@pytest.mark.slow
def test_a_server_takes_every_option_of_vllm_serve(tmp_path: Path) -> None:
    file = tmp_path / "vllm.yaml"
    file.write_text("max-model-len: 4096\nenforce-eager: true\n")
    assert serve_options(["--config", str(file)]) == {"max_model_len": 4096, "enforce_eager": True}
    words = "--tool-call-parser hermes --data-parallel-size 8 --quantization fp8"
    assert serve_options(words.split()) == {"tool_call_parser": "hermes", "data_parallel_size": 8, "quantization": "fp8"}


READ: dict[str, Callable[[list[str]], Any]] = {
    "pairs": lambda words: engine_options(words, []),
    "engine": lambda words: engine_options([], words),
    "server": serve_options,
}
REFUSED = yaml.safe_load(Path(__file__).with_name("refused_options.yaml").read_text())


@pytest.mark.parametrize(("kind", "words", "message"), [(kind, *case) for kind in READ for case in REFUSED[kind].items()])
def test_a_wrong_option_is_an_error_of_one_line(kind: str, words: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        READ[kind](words.split())
    assert "\n" not in str(caught.value)
    assert "sk-x" not in str(caught.value)
