"""The hand-over to TransformerLens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interp.models.loading import load
from interp.values import Checkpoint

if TYPE_CHECKING:
    from transformer_lens.model_bridge import TransformerBridge


def bridge(checkpoint: Checkpoint, dtype: str = "float32", device: str = "cpu") -> TransformerBridge:
    """A TransformerLens `TransformerBridge` of a checkpoint, with its tokenizer.

    It holds a module of its own: swapping weights under a live bridge is impossible, since the bridge keeps split
    copies of the fused query-key-value weights that a swap would leave stale.
    """
    from transformer_lens.model_bridge import TransformerBridge
    from transformers import AutoTokenizer

    module = load(checkpoint, dtype, device).module
    tokenizer = AutoTokenizer.from_pretrained(checkpoint.tokenizer, local_files_only=True)
    return TransformerBridge.boot_transformers(
        str(checkpoint.folder), hf_model=module, tokenizer=tokenizer, device=device, dtype=module.dtype
    )
