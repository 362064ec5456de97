"""The refusals of `harness serve` before it starts anything, the server's command line, and the reading of its log."""

import socket
import sys
import tempfile
from pathlib import Path

import pytest

from harness.cli import main
from harness.engines.vllm import server as vllm
from harness.engines.vllm.engine import LORA_RANKS, device_options, max_lora_rank
from harness.errors import AdapterError, EngineError
from tests.helpers import cases

CASES = cases(__file__)


def test_the_rank_is_rounded_up_to_one_that_vllm_takes() -> None:
    assert [max_lora_rank(rank) for rank in (1, 2, 9, 200, 512)] == [1, 8, 16, 256, 512]
    with pytest.raises(AdapterError, match="rank is 513"):
        max_lora_rank(513)
    lora = pytest.importorskip("vllm.config.lora")
    assert lora.MaxLoRARanks.__args__ == LORA_RANKS


def test_the_command_line_names_base_and_adapters_and_the_users_options_replace_the_chosen_ones() -> None:
    adapters = [vllm.ServedAdapter("a", Path("runs/a"), 4), vllm.ServedAdapter("b", Path("runs/b"), 12)]
    line = " ".join(vllm.server_options("/models/tiny", "tiny", adapters, Path("vllm.sock"), Path("plain.jinja")))
    assert "/models/tiny --served-model-name tiny --uds vllm.sock" in line
    assert "--port" not in line
    assert "--max-lora-rank=16 --max-loras=2" in line
    assert line.endswith("--enable-lora --lora-modules a=runs/a b=runs/b")
    assert "--generation-config=vllm" in line
    assert "--chat-template plain.jinja" in line
    assert ("--no-enable-chunked-prefill" in line) == bool(device_options(draws=True))
    given = ("max_model_len", "generation_config", "max_loras", "dtype", "enforce_eager")
    line = " ".join(vllm.server_options("tiny", "tiny", adapters, Path("s"), None, given))
    assert not any(f"--{name.replace('_', '-')}" in line for name in given)


def test_no_server_may_be_told_to_load_adapters_or_learns_the_clients_key() -> None:
    given = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1", "HARNESS_API_KEY": "sk", "VLLM_API_KEY": "another"}
    assert not set(given) & set(vllm.server_environment(given))


def test_all_sockets_are_in_a_short_folder_that_only_its_owner_enters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    show = (sys.executable, "-c", "import os; print(os.environ['VLLM_RPC_BASE_PATH'])")
    with vllm.private_folder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(folder / ("s" * 36)))
        with vllm.Server((), folder / "vllm.sock", tmp_path / "log", command=show) as server, pytest.raises(EngineError):
            server.wait()
        assert (tmp_path / "log").read_text().strip() == str(folder)
    assert not folder.exists()


def test_a_port_in_use_is_an_error_of_one_line_and_exit_code_1(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--base", str(base), "--port", str(port)]) == 1
    assert capsys.readouterr().err == f"Error: port {port} of 127.0.0.1 is in use: choose another with --port\n"
    vllm.check_port("127.0.0.1", port)


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize(("options", "code", "message"), CASES["refused options"])
def test_bad_options(base: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, message: str) -> None:
    assert main(["serve", "--base", str(base), *options]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("log", "line"), CASES["logs"])
def test_the_logs_last_error_is_the_cause(tmp_path: Path, log: str, line: str) -> None:
    (tmp_path / "log").write_text(log)
    assert vllm.last_error(tmp_path / "log") == line
