"""Does a head's output raise the token that it attends to? Read off its weights alone."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def ov_copying(
    value: Float[Tensor, "layer head d_model d_head"],
    out: Float[Tensor, "layer head d_head d_model"],
    embed: Float[Tensor, "vocab d_model"],
    unembed: Float[Tensor, "vocab d_model"],
) -> Float[np.ndarray, "layer head"]:
    """Σλ / Σ|λ| over the eigenvalues of each head's full OV circuit W_E W_V W_O W_Uᵀ: 1 copies, −1 suppresses.

    Elhage et al. 2021 (A Mathematical Framework for Transformer Circuits, "copying matrices"). The circuit is a matrix
    of tokens by tokens; its non-zero eigenvalues are those of W_O W_Uᵀ W_E W_V, of d_head by d_head, which is what is
    decomposed. The unembedding's mean over tokens is taken off, since raising every token alike copies nothing (and
    changes no probability). Random weights have expectation 0. NaN where the circuit is zero.

    Args:
        value: W_V, the norm before attention folded in.
        out: W_O.
        embed: the embeddings of the tokens that are looked at.
        unembed: the unembedding rows of the same tokens, the final norm folded in.
    """
    through = ((unembed - unembed.mean(0)).T @ embed).double()
    small = out.double() @ through @ value.double()
    sizes = torch.linalg.eigvals(small).abs().sum(-1)
    trace = small.diagonal(dim1=-2, dim2=-1).sum(-1)
    return (trace / sizes).cpu().numpy()
