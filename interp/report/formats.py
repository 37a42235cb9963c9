"""How numbers, steps, tokens and anchors are written in a report."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import SupportsFloat, SupportsIndex

from interp.values import RunId

NONE = "–"
_NAMED = {"\n": "⏎", "\t": "⇥"}
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # they hold emoji and some scripts together


def probability(value: float) -> str:
    """Three digits without the leading zero: `.972`, `1.000`; a dash where there is no number."""
    if value is None or math.isnan(value):
        return NONE
    text = f"{abs(value):.3f}"
    sign = "−" if value < 0 and float(text) else ""
    return sign + text.removeprefix("0")


def signed(value: float) -> str:
    """A difference with its sign and three digits: `+.098`, `−.012`; a rounded zero is `.000`."""
    text = probability(value)
    return text if text in (NONE, ".000") or text.startswith("−") else f"+{text}"


def interval(low: float, high: float) -> str:
    """`[+.048, +.148]`; a dash where there is none."""
    return NONE if math.isnan(low) or math.isnan(high) else f"[{signed(low)}, {signed(high)}]"


def step(value: int | None) -> str:
    """A training step with thousands separators."""
    return NONE if value is None else f"{value:,}"


def span(values: Sequence[int]) -> str:
    """One step, or the first and last of several."""
    low, high = min(values), max(values)
    return step(low) if low == high else f"{step(low)} to {step(high)}"


def counted(n: int, noun: str) -> str:
    """`1 run`, `3 runs`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listed(items: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    words = list(items)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "none"


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def visible(text: str) -> str:
    """The text with every character that would be unseen, or turn its neighbours round, written out."""
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if unicodedata.category(character) in _HIDDEN and character not in _JOINERS:
        return f"⟨U+{ord(character):04X}⟩"
    return character


def piece(text: str) -> str:
    """A token's string with its spaces shown; an empty one is named."""
    return visible(text).replace(" ", "␣") if text else "⟨empty⟩"


def plotted(text: str) -> str:
    """A text for a plotly label, which reads a subset of HTML: shown as it is."""
    return html.escape(visible(text), quote=False)


def slug(text: str) -> str:
    """Lower-case letters, digits and single hyphens, for an anchor."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "x"


def run_slug(run: RunId) -> str:
    """The anchor part of a run: `nano-3l-seed1`."""
    return slug(run.suite) if run.seed is None else f"{slug(run.suite)}-seed{run.seed}"


def short(digest: str) -> str:
    """The first 12 digits of a hash."""
    return digest[:12] if digest else NONE


def change(before: float, after: float) -> str:
    """`.200 → .920`."""
    return f"{probability(before)} → {probability(after)}"


def ranged(values: Sequence[float]) -> str:
    """`.380 to .820`, or the one value."""
    low, high = probability(min(values)), probability(max(values))
    return low if low == high else f"{low} to {high}"


def number(value: float) -> str:
    """A number of any size: three digits behind the point where they tell something."""
    if math.isnan(value):
        return NONE
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return text.replace("-", "−")


def optional(value: object) -> str:
    """A stored number, whole ones as steps; a dash where it is not known."""
    if not isinstance(value, SupportsFloat) or math.isnan(float(value)):
        return NONE
    return f"{int(value):,}" if isinstance(value, SupportsIndex) else number(float(value))


def measured(of: tuple[float, float, float] | None) -> str:
    """`+.026 [+.003, +.054]`; a dash where there is none."""
    return NONE if of is None else f"{signed(of[0])} {interval(*of[1:])}"
