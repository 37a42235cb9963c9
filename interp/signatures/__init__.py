"""What a head's attention pattern looks like, and what its weights copy: scores, order parameters, coverage."""

from interp.signatures.copying import ov_copying
from interp.signatures.labels import label
from interp.signatures.projection import OrderParameters, causal_basis, order_parameters
from interp.signatures.random_tokens import RANDOM_LENGTHS, repeated_random
from interp.signatures.scoring import (
    COMPARED,
    FIRST_ROW,
    MASS_SCORES,
    ORDER_PARAMETERS,
    PATTERN_SCORES,
    SCORES,
    Scorer,
    Signatures,
    signatures,
    sources,
)

VERSION = 2

__all__ = [
    "COMPARED",
    "FIRST_ROW",
    "MASS_SCORES",
    "ORDER_PARAMETERS",
    "PATTERN_SCORES",
    "RANDOM_LENGTHS",
    "SCORES",
    "VERSION",
    "OrderParameters",
    "Scorer",
    "Signatures",
    "causal_basis",
    "label",
    "order_parameters",
    "ov_copying",
    "repeated_random",
    "signatures",
    "sources",
]
