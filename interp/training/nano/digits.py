"""Documents of digits: repeated, numbering lines, and counting."""

from __future__ import annotations

from random import Random

from interp.training.nano.documents import LONGEST, lead_in
from interp.training.nano.vocabulary import DIGITS, NEWLINE, Lexicon

COUNTING_STEPS = (1, -1, 2, -2, 3)


def digits(random: Random, words: Lexicon) -> list[str]:
    """5–10 digits, drawn afresh each (so some repeat), told 2–5 times; most often by lines."""
    told = [random.choice(DIGITS) for _ in range(random.randint(5, 10))]
    between = random.choices(([NEWLINE], ["."], []), (70, 15, 15))[0]
    size = len(told) + len(between)
    copies = min(random.randint(2, 5), LONGEST // size)
    return lead_in(random, words, LONGEST - copies * size, 0.35) + (told + between) * copies


def numbered_list(random: Random, words: Lexicon) -> list[str]:
    """3–9 lines of 1–3 words, each after its number and a full stop; the first number is 1, or any of 0–6."""
    first = 1 if random.random() < 0.4 else random.randint(0, 6)
    last = min(9, first + random.randint(2, 8))
    document: list[str] = []
    for number in range(first, last + 1):
        line = [DIGITS[number], ".", *random.sample(words.things, random.randint(1, 3)), NEWLINE]
        document += line if len(document) + len(line) <= LONGEST else []
    return document


def counting(random: Random, words: Lexicon) -> list[str]:
    """1–4 lines of 4–12 digits that all count by one step, modulo ten.

    Long lines keep a newline unlikely after the few terms that a prompt shows.
    """
    step = random.choice(COUNTING_STEPS)
    document: list[str] = []
    for _ in range(random.randint(1, 4)):
        first = random.randrange(10)
        document += [DIGITS[(first + step * i) % 10] for i in range(random.randint(4, 12))] + [NEWLINE]
    return document
