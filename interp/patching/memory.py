"""How much goes into one pass: a bound on memory, never on results (heads in a batch equal heads one by one)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from interp.models.model import Model
from interp.values import InputError

MEMORY = 2**30

# positions of one matrix product: enough for the full rate, few enough for its results to stay in the cache
_POSITIONS = 1024
# rows of one unembedding: its weights are read anew for each, and are the largest of the model
_UNEMBEDDED = 256


@dataclass(frozen=True)
class Plan:
    """Sizes for prompts of one length: prompts and variants of a pass, rows of one product, rows of one unembedding."""

    prompts: int
    variants: int
    rows: int
    logits: int


def plan(model: Model, length: int, variants: int, memory: int = MEMORY) -> Plan:
    """The largest passes whose tensors stay below `memory` bytes: half for the streams, the rest for what layers make.

    Raises:
        InputError: not even two rows fit.
    """
    item = model.dtype.itemsize
    width = model.module.config.hidden_size
    stream = length * width * item
    # fused query-key-value, mixed values and the MLP's two halves, and three tensors of scores
    layer = length * item * (16 * width + 3 * model.n_heads * length)
    logits = 4 * model.vocab_size * item
    if 2 * (stream + layer) > memory or logits > memory:
        needed = max(2 * (stream + layer), logits)
        raise InputError(
            f"{memory} bytes of memory are too few for prompts of {length} tokens in {model.checkpoint}; "
            f"needed: at least {needed}"
        )
    rows = max(1, min(ceil(_POSITIONS / length), memory // 4 // layer))
    held = max(2, memory // 2 // stream)
    prompts = max(1, min(rows, held // variants))
    return Plan(prompts, max(2, min(variants, held // prompts)), rows, max(1, min(_UNEMBEDDED, memory // 4 // logits)))
