"""The progress bar of every long loop: tqdm's, as a widget in a notebook that has ipywidgets, else as text."""

import warnings

from tqdm import TqdmWarning

with warnings.catch_warnings():
    # in a notebook without ipywidgets tqdm falls back to text, which is fine, and warns, which is not
    warnings.simplefilter("ignore", TqdmWarning)
    from tqdm.auto import tqdm

__all__ = ["tqdm"]
