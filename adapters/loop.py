"""Where a training run that was killed goes on, and the arithmetic it is done in."""

from __future__ import annotations

from pathlib import Path


def last_checkpoint(folder: Path) -> Path | None:
    """The newest complete checkpoint of transformers' Trainer; its state file is what it writes last."""
    complete = [path.parent for path in folder.glob("checkpoint-*/trainer_state.json")]
    return max(complete, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def fast_bf16() -> bool:
    """Whether bfloat16 is the faster arithmetic here: a GPU that has it, or a CPU with AVX512_BF16 or AMX."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    asked = (getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile"))
    return any(supported() for supported in asked if supported)
