"""vLLM's own options: parsed by its own parser, refused in one line, passed on and recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engines.vllm.options import engine_options, recorded, serve_options
from harness.errors import UsageError

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


def test_names_and_types_are_those_of_vllm() -> None:
    words = ["--pipeline-parallel-size", "2", "--distributed-executor-backend", "ray", "-tp", "2", "--gpu_memory_utilization=0.8"]
    assert engine_options(["max_num_seqs=512", "enforce_eager=true", "enable_prefix_caching=false"], words) == {
        "max_num_seqs": 512,
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "pipeline_parallel_size": 2,
        "distributed_executor_backend": "ray",
        "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.8,
    }
    assert engine_options([], []) == {}


def test_a_run_records_what_may_change_an_answer_as_plain_values() -> None:
    given = engine_options(["max_num_seqs=4", "download_dir=/tmp"], ["--hf-overrides.rope_theta", "3"])
    assert recorded(given) == {"hf_overrides": "{'rope_theta': 3}", "max_num_seqs": 4}


@pytest.mark.parametrize(
    ("pairs", "words", "message"),
    [
        (["max_num_seq=4"], [], r"no option --max-num-seq; did you mean --max-num-seqs"),
        ([], ["--max_num_seq", "4"], r"did you mean --max-num-seqs"),
        (["max_num_seqs=many"], [], r"--max-num-seqs: invalid int value: 'many'"),
        (["max_num_seqs"], [], r"give key=value"),
        (["seed=3"], [], r"--seed is decided by --seed here"),
        ([], ["--max-model-len", "100"], r"--max-model-len is decided by --context-length here"),
        ([], ["--enable-lora"], r"decided by --adapter here"),
        (["model=other"], [], r"decided by --model here"),
    ],
)
def test_a_wrong_option_is_an_error_of_one_line(pairs: list[str], words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        engine_options(pairs, words)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_server_takes_every_option_of_vllm_serve(tmp_path: Path) -> None:
    words = [
        "--enable-auto-tool-choice",
        "--tool-call-parser",
        "hermes",
        "--reasoning-parser",
        "qwen3",
        "--data-parallel-size",
        "8",
    ]
    words += ["-tp", "2", "--pipeline_parallel_size=2", "--distributed-executor-backend", "ray", "--quantization", "fp8"]
    given = serve_options([*words, "--max-lora-rank", "64", "--stream-interval", "4"])
    assert (given["tool_call_parser"], given["data_parallel_size"], given["tensor_parallel_size"]) == ("hermes", 8, 2)
    assert (given["pipeline_parallel_size"], given["quantization"], given["max_lora_rank"]) == (2, "fp8", 64)
    assert serve_options([]) == {}
    file = tmp_path / "vllm.yaml"
    file.write_text("max-model-len: 4096\nenforce-eager: true\n")
    assert serve_options(["--config", str(file)]) == {"max_model_len": 4096, "enforce_eager": True}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-num-seq", "4"], r"no option --max-num-seq; did you mean --max-num-seqs"),
        (["--max-num-seqs", "many"], r"invalid int value: 'many'"),
        (["Qwen/Qwen3-8B"], r"Qwen/Qwen3-8B is not an option; the model is given with --base"),
        (["--served-model-name", "x"], r"decided by --base here"),
        (["--uds", "/tmp/s"], r"decided by --host and --port here"),
        (["--api-key", "sk-x"], r"decided by --api-keys here"),
        (["--lora-modules", "a=b"], r"decided by --adapter here"),
        (["--chat-template", "x"], r"decided by --adapter here"),
        (["--logits-processors", "x"], r"not for harness serve"),
        (["--allowed-origins", '["*"]'], r"not for harness serve"),
        (["--ssl-keyfile", "x"], r"not for harness serve"),
        (["--headless"], r"not for harness serve"),
        (["--config", "nowhere.yaml"], r"No such file"),
        (["--hf-overrides.x"], r"--hf-overrides.x needs a value"),
    ],
)
def test_an_option_that_a_server_does_not_take_is_an_error_of_one_line(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        serve_options(words)
    assert "\n" not in str(caught.value)
    assert "sk-x" not in str(caught.value)
