"""Text → token ids, with nothing left to a tokenizer's defaults."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interp.values import InputError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
else:  # imported late; annotations that are looked up at run time find something
    Encoding = Tokenizer = Any

END_OF_TEXT = "<|endoftext|>"


@dataclass(frozen=True)
class TaskTokenizer:
    """A tokenizer whose ids depend on tokenizer.json alone: no flag of any other file adds a token.

    `sha256` is that of tokenizer.json's bytes; `bos` the text of the BOS token, or `None` if the files name
    none; `unknown_id` the id that stands for whatever the vocabulary lacks, or `None`. Two are equal if these are,
    wherever they were read.
    """

    raw: Tokenizer = field(compare=False)
    sha256: str
    bos: str | None
    unknown_id: int | None
    source: Path = field(compare=False)

    @property
    def bos_id(self) -> int:
        """The id of the BOS token; an `InputError` where there is none."""
        found = None if self.bos is None else self.raw.token_to_id(self.bos)
        if found is None:
            what = f"names BOS '{self.bos}', which it does not hold" if self.bos else "has no BOS token"
            raise InputError(f"{self.source} {what}; give one in tokenizer_config.json or ask for prompts without BOS")
        return found

    @property
    def plain_ids(self) -> tuple[int, ...]:
        """The ids that stand for text: all but special tokens and the unknown token, ascending."""
        special = {i for i, token in self.raw.get_added_tokens_decoder().items() if token.special}
        return tuple(sorted(set(self.raw.get_vocab().values()) - special - {self.unknown_id}))

    def encode(self, text: str) -> list[int]:
        """The ids of a text, no special token added; an `InputError` that names what the vocabulary lacks."""
        return list(self._encoding(text).ids)

    def _encoding(self, text: str) -> Encoding:
        try:
            encoding = self.raw.encode(text, add_special_tokens=False)
        except Exception as error:  # the Rust library raises bare Exception: a word level model without [UNK]
            raise InputError(f"'{text}' holds a word this tokenizer lacks ({error})") from error
        lacking = self._lacking(text, encoding)
        if lacking:
            raise InputError(f"'{text}' holds {_quoted(lacking)}, which this tokenizer lacks")
        return encoding

    def _lacking(self, text: str, encoding: Encoding) -> list[str]:
        """The parts of a text that became the unknown token, or no token at all."""
        covered, lost = [False] * len(text), []
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            covered[start:end] = [True] * (end - start)
            if token == self.unknown_id:
                lost.append(text[start:end])
        dropped = [text[i] for i, seen in enumerate(covered) if not seen and not text[i].isspace()]
        if dropped:  # offsets shift where a character was dropped, so each is tried by itself
            alone = [
                mark for mark in text if not mark.isspace() and not self.raw.encode(mark, add_special_tokens=False).ids
            ]
            dropped = alone or dropped
        return lost + dropped

    def ends_with_text(self, text: str) -> bool:
        """Whether the last token ends where the text ends: the prediction is read right after the text."""
        offsets = self._encoding(text).offsets
        return bool(offsets) and offsets[-1][1] == len(text)

    def is_one_token(self, text: str) -> bool:
        """Whether a text is exactly one known token."""
        try:
            return len(self.encode(text)) == 1
        except InputError:
            return False

    def piece(self, token: int) -> str:
        """One token as a person can read it (newline: ⏎); an id without a string is `<unused 50280>`."""
        name = self.raw.id_to_token(token)
        if name is None:
            return f"<unused {token}>"
        text = self.raw.decode([token], skip_special_tokens=False)
        if not text or "\N{REPLACEMENT CHARACTER}" in text:
            text = name
        return text.replace("\n", "⏎")

    def pieces(self, tokens: tuple[int, ...] | list[int]) -> list[str]:
        """Each token as a person can read it."""
        return [self.piece(token) for token in tokens]


def tokenizer(folder_or_file: Path | str) -> TaskTokenizer:
    """The tokenizer in a tokenizer.json, or in a folder that holds one.

    BOS is what tokenizer_config.json beside it names, else `<|endoftext|>` if the vocabulary holds it.
    """
    from tokenizers import Tokenizer

    path = Path(folder_or_file)
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        there = ", ".join(sorted(p.name for p in path.iterdir())[:12]) if path.is_dir() else "no such file"
        raise InputError(f"a tokenizer.json was needed at {file} (found: {there or 'an empty folder'})")
    content = file.read_bytes()
    try:
        raw = Tokenizer.from_str(content.decode("utf-8"))
    except Exception as error:  # bare Exception from Rust, or a decoding error
        raise InputError(f"{file} is not a tokenizer.json: {error}") from error
    raw.no_padding()
    raw.no_truncation()
    named = _named_bos(file.with_name("tokenizer_config.json"))
    bos = named or (END_OF_TEXT if raw.token_to_id(END_OF_TEXT) is not None else None)
    return TaskTokenizer(raw, hashlib.sha256(content).hexdigest(), bos, _unknown_id(raw, content), file)


def _unknown_id(raw: Tokenizer, content: bytes) -> int | None:
    """The id of the unknown token: Unigram models give its id, the others its name."""
    model = json.loads(content)["model"]
    name = model.get("unk_token")
    return model.get("unk_id") if name is None else raw.token_to_id(name)


def _named_bos(config: Path) -> str | None:
    """The BOS token that a tokenizer_config.json names, if it exists and names one."""
    if not config.is_file():
        return None
    try:
        named = json.loads(config.read_text(encoding="utf-8")).get("bos_token")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{config} is not a JSON object: {error}") from error
    token = named.get("content") if isinstance(named, dict) else named
    if named is not None and not isinstance(token, str):
        raise InputError(f"{config}: bos_token is {named!r}; needed: a text, or an object with the text as its content")
    return token or None


def _quoted(parts: list[str]) -> str:
    return ", ".join(f"'{part}'" for part in dict.fromkeys(parts))
