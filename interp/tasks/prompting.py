"""Drafts → prompts: token ids, one-token answers, and two disjoint sets of a task."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family
from interp.tasks.families.rows import Rows
from interp.tasks.spec import Task
from interp.tasks.tokens import TaskTokenizer
from interp.tasks.words import Words
from interp.values import InputError, Prompt, PromptSet, nearest

Role = Literal["search", "effect", "single"]
TRIES = 200  # draws of one plan before it counts as used up


def prompts(task: Task, tokenizer: TaskTokenizer, role: Role, n: int = 64, bos: bool = True) -> PromptSet:
    """`n` prompts of a task as token ids, the same on every machine.

    One sequence of distinct prompts is drawn; search takes its even places, effect its odd ones, so that the
    two are disjoint for every n. "single" is the literature's one prompt. A task of rows gives at most n of
    them. An `InputError` where the task cannot be had in this tokenizer, or cannot make n distinct prompts.
    """
    try:
        if role == "single":
            made = (finish(_single(task), tokenizer, bos),)
        elif isinstance(task.family, Rows):
            made = _every_other(task.family.drafts(), tokenizer, role, n, bos)
        else:
            _check(role, n)
            seed = f"{task.name} {task.version}"
            drawn = _drawn(task.family, seed, tokenizer, n, bos)  # pyright: ignore[reportArgumentType] - frozen: hashable
            made = _of_role(drawn, role)
            _require(n, made)
    except InputError as error:
        raise InputError(f"task '{task.name}': {error}") from error
    return PromptSet(task.name, task.version, role, task.threshold, task.ceiling, made, tokenizer.sha256, bos)


def rows(
    path: Path | str,
    tokenizer: TaskTokenizer,
    role: Literal["search", "effect"] = "search",
    n: int = 64,
    bos: bool = True,
    threshold: float = 0.75,
) -> PromptSet:
    """At most `n` prompts of a JSON-lines or CSV file of prompt, answer (and foil), without a task file.

    The task is named after the file, version 1; its shortcut ceiling is 0, since nothing is known of it.
    """
    source = Path(path)
    made = _every_other(Rows(kind="rows", path=source).drafts(), tokenizer, role, n, bos)
    return PromptSet(source.stem, 1, role, threshold, 0.0, made, tokenizer.sha256, bos)


def _single(task: Task) -> Draft:
    if task.single is None:
        raise InputError("it has no single prompt")
    return Draft(task.single.prompt, task.single.answer, task.single.foil, "single")


def _require(n: int, made: tuple[Prompt, ...]) -> None:
    if len(made) < n:
        raise InputError(f"it can make {len(made)} distinct prompts for this role, {n} are needed")


def _every_other(drafts: Iterator[Draft], tokenizer: TaskTokenizer, role: str, n: int, bos: bool) -> tuple[Prompt, ...]:
    """The first n drafts at even ("search") or odd ("effect") places, as prompts; fewer if the drafts end."""
    _check(role, n)
    return _of_role(_finished(drafts, tokenizer, n, bos), role)


def _check(role: str, n: int) -> None:
    if role not in ("search", "effect"):
        raise InputError(f"'{role}' is no role of these prompts: {nearest(role, get_args(Role))}")
    if n < 1:
        raise InputError(f"{n} prompts were asked for; at least 1 is needed")


def _of_role(made: tuple[Prompt, ...], role: str) -> tuple[Prompt, ...]:
    return made[0 if role == "search" else 1 :: 2]


@lru_cache(maxsize=128)  # of many runs and both roles: making the prompts of a task takes longer than scoring a model
def _drawn(family: Family, seed: str, tokenizer: TaskTokenizer, n: int, bos: bool) -> tuple[Prompt, ...]:
    """The first 2n prompts that a family makes from a seed."""
    return _finished(_distinct(family, Chance(seed), Words(tokenizer)), tokenizer, n, bos)


def _finished(drafts: Iterator[Draft], tokenizer: TaskTokenizer, n: int, bos: bool) -> tuple[Prompt, ...]:
    """The first 2n drafts as prompts; fewer if the drafts end.

    An `InputError` if any two drafts up to there are the same tokens, for then the two sets might share one.
    """
    made: dict[tuple[int, ...], Prompt] = {}
    for draft in islice(drafts, 2 * n):
        prompt = finish(draft, tokenizer, bos)
        if prompt.tokens in made:
            same = made[prompt.tokens].text
            raise InputError(f"prompts {same!r} and {prompt.text!r} are the same tokens; each may be given once")
        made[prompt.tokens] = prompt
    return tuple(made.values())


def _distinct(family: Family, chance: Chance, words: Words) -> Iterator[Draft]:
    """Distinct drafts, until one plan yields no new one: without it the shortcut ceiling would be another.

    Plans are visited in rounds of fresh order, each twice in a row: once for search, once for effect.
    """
    plans, seen = family.plans(), set[str]()
    while True:
        for plan in chance.some(plans, len(plans)):
            for _ in range(2):
                draft = _new_draft(family, plan, chance, words, seen)
                if draft is None:
                    return
                seen.add(draft.text)
                yield draft


def _new_draft(family: Family, plan: Any, chance: Chance, words: Words, seen: set[str]) -> Draft | None:
    """A draft of a plan with a text not seen before; `None` after many failures."""
    for _ in range(TRIES):
        draft = family.draft(plan, chance, words)
        if draft is not None and draft.text not in seen:
            return draft
    return None


def finish(draft: Draft, tokenizer: TaskTokenizer, bos: bool) -> Prompt:
    """A draft as token ids; an `InputError` where text and answer do not split into prompt and one token."""
    text = draft.text
    mended = text.rstrip(" \t")
    if text != mended:
        raise InputError(f"prompt {text!r} ends in a space, which belongs to the answer; write {mended!r}")
    tokens = tokenizer.encode(text)
    if not tokens:
        raise InputError(f"prompt {text!r} has no token")
    start = [tokenizer.bos_id] if bos else []
    if tokenizer.bos is not None and tokenizer.bos_id in tokens:
        raise InputError(f"prompt {text!r} holds the BOS token '{tokenizer.bos}'; leave it out, BOS is a setting")
    if not tokenizer.ends_with_text(text):
        raise InputError(f"prompt {text!r} does not end where its last token '{tokenizer.piece(tokens[-1])}' ends")
    answer = _next_token(text, draft.answer, "answer", tokens, tokenizer)
    foil = None if draft.foil is None else _next_token(text, draft.foil, "foil", tokens, tokenizer)
    if foil == answer:
        raise InputError(f"prompt {text!r}: answer and foil are the same token '{tokenizer.piece(answer)}'")
    return Prompt(text, tuple(start + tokens), answer, foil, draft.layout)


def _next_token(text: str, after: str, what: str, tokens: list[int], tokenizer: TaskTokenizer) -> int:
    """The one token that `after` is when it follows the text."""
    if not after.strip(" "):
        raise InputError(f"the {what} {after!r} of prompt {text!r} is empty")
    if text[-1].isalnum() and after[0].isalnum():
        raise InputError(f"the {what} {after!r} needs its leading space after prompt {text!r}: write {' ' + after!r}")
    whole = tokenizer.encode(text + after)
    if whole[:-1] == tokens:
        return whole[-1]
    if whole[: len(tokens)] == tokens:
        pieces = ", ".join(f"'{piece}'" for piece in tokenizer.pieces(whole[len(tokens) :]))
        raise InputError(f"the {what} {after!r} is {len(whole) - len(tokens)} tokens ({pieces}); one is needed")
    raise InputError(f"the {what} {after!r} runs into the last token of prompt {text!r}; they must split there")
