"""vLLM's own options: parsed by its own parser, refused in one line, passed on and recorded."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

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


ENGINE, SERVER = partial(engine_options, []), serve_options


@pytest.mark.parametrize(
    ("read", "words", "message"),
    [
        (lambda words: engine_options(words, []), ["max_num_seqs"], r"give key=value"),
        (lambda words: engine_options(words, []), ["model=other"], r"decided by --model here"),
        (ENGINE, ["--max-model-len", "100"], r"--max-model-len is decided by --context-length here"),
        (ENGINE, ["--data-parallel-size", "8"], r"harness serve: start it with `-- --data-parallel-size 8`"),
        (ENGINE, ["--max_num_seq", "4"], r"unrecognized arguments: --max.num.seq 4"),
        (SERVER, ["--max-num-seqs", "many"], r"invalid int value: 'many'"),
        (SERVER, ["Qwen/Qwen3-8B"], r"Qwen/Qwen3-8B is not an option; the model is given with --base"),
        (SERVER, ["--served-model-name", "x"], r"decided by --base here"),
        (SERVER, ["--api-key", "sk-x"], r"decided by --api-keys here"),
        (SERVER, ["--logits-processors", "x"], r"not for harness serve"),
        (SERVER, ["--allowed-origins", '["*"]'], r"not for harness serve"),
        (SERVER, ["--ssl-keyfile", "x"], r"not for harness serve"),
        (SERVER, ["--headless"], r"not for harness serve"),
        (SERVER, ["--config", "nowhere.yaml"], r"No such file"),
        (SERVER, ["--hf-overrides.x"], r"--hf-overrides.x needs a value"),
    ],
)
def test_a_wrong_option_is_an_error_of_one_line(read: Callable[[list[str]], Any], words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read(words)
    assert "\n" not in str(caught.value)
    assert "sk-x" not in str(caught.value)
