"""A checkpoint as something that runs: loading, weight swapping, one decoder file per family."""

from interp.models.bridge import bridge
from interp.models.decoder import Decoder
from interp.models.loading import load
from interp.models.model import Attention, Model

__all__ = ["Attention", "Decoder", "Model", "bridge", "load"]
