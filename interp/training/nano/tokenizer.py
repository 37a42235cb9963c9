"""Words to ids: a word, a digit, a punctuation mark or a newline is a token; blanks separate and are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from interp.training.nano.vocabulary import BOUNDARY, UNKNOWN

_BLANKS = Regex(r"[ \t\r]+")
# Isolated one by one: "1." and "0731" fall apart and a newline survives (WhitespaceSplit would swallow it).
_SINGLE = Regex(r"[.,:;?!0-9\n]")


def build_tokenizer(vocabulary: Sequence[str]) -> Tokenizer:
    """The word-level tokenizer of these tokens; a token's id is its place, and `<|endoftext|>` is 0.

    No token is added to a text on its own: ids are explicit. A word that is not known becomes `<|unknown|>`.
    """
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(_BLANKS, "removed"), pre_tokenizers.Split(_SINGLE, "isolated")]
    )
    # This decoder puts blanks between words and, with cleanup, none before punctuation.
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    tokenizer.add_special_tokens([AddedToken(BOUNDARY, special=True), AddedToken(UNKNOWN, special=True)])
    return tokenizer


def write_tokenizer(tokenizer: Tokenizer, folder: Path, longest: int) -> None:
    """Write tokenizer.json and tokenizer_config.json, as transformers' `AutoTokenizer` reads them."""
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOUNDARY,
        "eos_token": BOUNDARY,
        "unk_token": UNKNOWN,
        "model_max_length": longest,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=True))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
