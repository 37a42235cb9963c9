"""The nano corpus: documents of eight kinds, one after the other, as rows of token ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from random import Random

import numpy as np
from jaxtyping import UInt16

from interp.training.nano.digits import counting, digits, numbered_list
from interp.training.nano.documents import Document
from interp.training.nano.ledger import ledger
from interp.training.nano.prose import prose
from interp.training.nano.stories import story
from interp.training.nano.strings import pattern, string
from interp.training.nano.vocabulary import BOUNDARY, Lexicon


@dataclass(frozen=True)
class Mixture:
    """How often each kind of document is drawn (relative weights of documents, not of tokens)."""

    prose: float
    story: float
    string: float
    pattern: float
    digits: float
    numbered_list: float
    counting: float
    ledger: float


KINDS: Mapping[str, Document] = {
    "prose": prose,
    "story": story,
    "string": string,
    "pattern": pattern,
    "digits": digits,
    "numbered_list": numbered_list,
    "counting": counting,
    "ledger": ledger,
}


def documents(mixture: Mixture, words: Lexicon, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Documents without end, each with the name of its kind; the same ones for the same arguments."""
    random = Random(seed)
    names, weights = list(KINDS), astuple(mixture)
    while True:
        kind = random.choices(names, weights)[0]
        yield kind, KINDS[kind](random, words)


def corpus(
    mixture: Mixture, words: Lexicon, vocabulary: Sequence[str], tokens: int, row: int, seed: int
) -> UInt16[np.ndarray, "row pos"]:
    """Rows of `row` token ids, `tokens` ids in all; a boundary stands before every document.

    Rows are cut without regard to documents, so a document may begin in one row and end in the next.
    """
    ids = {word: i for i, word in enumerate(vocabulary)}
    flat: list[int] = []
    for _, document in documents(mixture, words, seed):
        flat.append(ids[BOUNDARY])
        flat.extend([ids[word] for word in document])
        if len(flat) >= tokens:
            break
    rows = tokens // row
    return np.array(flat[: rows * row], dtype=np.uint16).reshape(rows, row)


def corpus_hash(rows: UInt16[np.ndarray, "row pos"]) -> str:
    """Sha256 over the token ids, as little-endian 16-bit integers in reading order."""
    return hashlib.sha256(np.ascontiguousarray(rows, dtype="<u2").tobytes()).hexdigest()
