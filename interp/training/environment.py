"""What, besides the recipe, decides a run's bytes."""

from __future__ import annotations

import platform

import torch
import transformers


def environment(threads: int) -> dict[str, str]:
    """Versions, threads and CPU kernels: equal environments train equal bytes, others need not.

    Kernels matter: the same seed with AVX2 in place of AVX-512 reached one task 450 steps sooner.
    """
    return {
        "torch": str(torch.__version__),
        "transformers": str(transformers.__version__),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "threads": str(threads),
    }
