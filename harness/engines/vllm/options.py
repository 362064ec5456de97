"""vLLM's own options, in addition to the harness's flags: their names, types and defaults are vLLM's."""

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any, NoReturn

from harness.engines.shared import brief
from harness.engines.vllm.engine import set_up
from harness.errors import EngineError, UsageError

OURS = {
    **dict.fromkeys(("model", "tokenizer", "tokenizer_mode", "tokenizer_revision", "skip_tokenizer_init"), "--model"),
    "served_model_name": "--model",
    "seed": "--seed",
    "max_model_len": "--context-length",
    **dict.fromkeys(("enable_lora", "max_loras", "max_lora_rank", "default_mm_loras"), "--adapter"),
    "logits_processors": "--constrain feasible",
    **dict.fromkeys(("generation_config", "override_generation_config"), "--temperature and --max-new-tokens"),
}
"""vLLM's options that the harness sets, and the flags that decide them."""
SERVED = {
    **dict.fromkeys(("model", "tokenizer", "tokenizer_mode", "tokenizer_revision", "skip_tokenizer_init"), "--base"),
    "served_model_name": "--base",
    **dict.fromkeys(("host", "port", "uds", "root_path", "data_parallel_multi_port_external_lb"), "--host and --port"),
    "api_key": "--api-keys",
    **dict.fromkeys(("enable_lora", "lora_modules", "default_mm_loras", "chat_template"), "--adapter"),
}
"""The options of `vllm serve` that `harness serve` sets, and the flags that decide them."""
NOT_SERVED = {"logits_processors", "headless", "grpc", "grpc_port", "enable_ssl_refresh", "allow_credentials"} | {
    *(f"ssl_{name}" for name in ("keyfile", "certfile", "ca_certs", "cert_reqs", "ciphers")),
    *(f"allowed_{name}" for name in ("origins", "methods", "headers")),
}
"""The options of `vllm serve` that `harness serve` refuses: it has a logits processor of its own, speaks plain HTTP on one port
(docs/serving.md), and does not admit pages of other origins."""
UNSEEN = {"download_dir", "disable_log_stats", "enable_log_requests", "aggregate_engine_logging", "hf_token", "use_tqdm_on_load"}
"""Options that cannot change an answer: a run does not record them."""


def engine_options(pairs: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """Options given as key=value pairs and as words of vLLM's own command line, with the names and types of `EngineArgs`.

    Raises UsageError, in one line, for an unknown name, a value that vLLM does not take, and an option that the harness sets.
    """
    if not pairs and not words:
        return {}
    parser = _parser("vllm.engine.arg_utils:EngineArgs.add_cli_args")
    options = _free(_read(parser, [*(_flag(parser, pair) for pair in pairs), *words]), OURS)
    if (copies := options.get("data_parallel_size", 1)) > 1:
        raise UsageError(
            f"--data-parallel-size {copies} is for harness serve: start it with `-- --data-parallel-size {copies}`, and ask it "
            "with --engine openai --base-url http://127.0.0.1:8000/v1 --model NAME; or split the model: --tensor-parallel-size"
        )
    return options


def serve_options(words: Sequence[str]) -> dict[str, Any]:
    """Options given as words of the command line of `vllm serve`, or in the file of its --config, as vLLM itself reads them.

    Raises UsageError as `engine_options` does, and for an option that is of no use here.
    """
    if not words:
        return {}
    options = _read(_parser("vllm.entrypoints.launchers.cli_args:make_arg_parser"), words)
    if "model_tag" in options:
        raise UsageError(f"vLLM: {options['model_tag']} is not an option; the model is given with --base")
    for name in sorted(NOT_SERVED & options.keys()):
        raise UsageError(f"vLLM's {_dashed(name)} is not for harness serve: leave it out (docs/serving.md)")
    return _free(options, SERVED)


def _free(options: dict[str, Any], decided: Mapping[str, str]) -> dict[str, Any]:
    """The options. Raises UsageError for one that a flag decides."""
    for name in sorted(decided.keys() & options):
        raise UsageError(f"vLLM's {_dashed(name)} is decided by {decided[name]} here: leave it out")
    return options


def recorded(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a run records, as plain values: all that may change an answer, even if only its last bits."""
    plain = (str, int, float, bool, type(None))
    return {key: value if isinstance(value, plain) else str(value) for key, value in sorted(options.items()) if key not in UNSEEN}


def _parser(path: str) -> Any:
    """A parser of the options that vLLM's function at `path` adds. Raises EngineError if vLLM cannot be imported."""
    set_up()
    with warnings.catch_warnings(action="ignore"):
        try:
            add = resolve_name(path)
        except (ImportError, AttributeError) as error:
            raise EngineError(f"vLLM cannot be imported ({brief(error)}): its options need it") from error
        return _strict(add)


def _read(parser: Any, words: Sequence[str]) -> dict[str, Any]:
    try:
        return dict(vars(parser.parse_args(list(words))))
    except IndexError:
        raise UsageError(f"vLLM: {words[-1]} needs a value") from None
    except (OSError, ValueError, AssertionError) as error:
        # vLLM raises these for a --config file that it cannot read.
        raise UsageError(f"vLLM: {brief(error)}") from None


def _strict(fill: Callable[[Any], Any]) -> Any:
    """A parser that `fill` adds vLLM's options to. It returns only what is given, without defaults, and raises UsageError."""
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = fill(FlexibleArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS))
    for action in parser._actions:
        action.default = argparse.SUPPRESS

    def refuse(message: str) -> NoReturn:
        raise UsageError(f"vLLM: {brief(message)}")

    parser.error = refuse
    return parser


def _flag(parser: Any, pair: str) -> str:
    """A pair key=value as a word of the command line; a false switch becomes --no-key. Raises UsageError if there is no value."""
    key, equals, value = pair.partition("=")
    if not key or not equals:
        raise UsageError(f"--vllm {pair}: give key=value, e.g. --vllm max_num_seqs=512")
    flag = _dashed(key)
    action = next((action for action in parser._actions if flag in action.option_strings), None)
    if isinstance(action, argparse.BooleanOptionalAction) and value.lower() in ("true", "false"):
        return flag if value.lower() == "true" else flag.replace("--", "--no-", 1)
    return f"{flag}={value}"


def _dashed(name: str) -> str:
    return "--" + name.strip("-").replace("_", "-")
