"""How often the rule of `interp.changes` is right, on simulated curves whose truth is known."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from interp.changes import Verdict, change

# evaluated steps: those of nano-3l seed 0; what a bisection of a Pythia run may visit; all of Pythia's up to 20,000
GRIDS: dict[str, tuple[int, ...]] = {
    "nano (18)": (
        0, 128, 300, 400, 500, 600, 1000, 1400, 1500, 1800, 1900, 2000, 2100, 2400, 2500, 2600, 2700, 3000,
    ),
    "bisection (12)": (0, 512, 3000, 5000, 6000, 7000, 8000, 9000, 12000, 38000, 74000, 143000),
    "Pythia (30)": (0, *(2**i for i in range(10)), *range(1000, 20000, 1000)),
}  # fmt: skip
NOISES, CURVES, HEIGHT = (0.0, 0.02, 0.05, 0.1), 1000, 0.6
Shape = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def flat(x: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """No change."""
    return np.zeros(len(x))


def jump(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A jump between two neighbouring evaluated steps."""
    return HEIGHT * (np.arange(len(x)) >= random.integers(1, len(x)))


def flicker(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A single step out of line."""
    return HEIGHT * (np.arange(len(x)) == random.integers(1, len(x) - 1))


def ramp(intervals: int) -> Shape:
    """A slope, even over so many intervals of evaluated steps."""

    def shape(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        begin = random.integers(0, len(x) - intervals)
        return HEIGHT * np.clip((np.arange(len(x)) - begin) / intervals, 0, 1)

    return shape


def doublings(width: float) -> Shape:
    """A slope over a width in doublings of the step, wherever the evaluated steps lie."""

    def shape(x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        begin = random.uniform(x[1], x[-1] - width)
        return HEIGHT * np.clip((x - begin) / width, 0, 1)

    return shape


SHAPES: dict[str, Shape] = {
    "flat": flat, "one step out of line": flicker, "jump": jump,
    **{f"slope over {n} intervals": ramp(n) for n in (2, 3, 5, 8)},
    **{f"slope over {n} doublings": doublings(n) for n in (0.5, 1, 2)},
}  # fmt: skip


def rates(steps: Sequence[int], shape: Shape, noise: float, curves: int = CURVES) -> dict[str, float]:
    """The shares of verdicts on curves of one shape with independent noise of a standard deviation."""
    random = np.random.default_rng(0)
    with np.errstate(divide="ignore"):
        x = np.log2(np.array(steps, dtype=float))
    found: Counter[str] = Counter()
    for _ in range(curves):
        values = shape(x, random) + noise * random.normal(size=len(x))
        found[change(steps, values).verdict] += 1
    return {verdict: found[verdict] / curves for verdict in (Verdict.NONE, Verdict.GRADUAL, Verdict.ABRUPT)}


def main() -> None:
    """Print the table of docs/signatures.md: none / gradual / abrupt in per cent."""
    for name, steps in GRIDS.items():
        print(f"\n| {name}, height {HEIGHT} | " + " | ".join(f"noise {noise}" for noise in NOISES) + " |")
        print("|---|" + "---|" * len(NOISES))
        for shape, draw in SHAPES.items():
            cells = [" / ".join(f"{100 * v:.0f}" for v in rates(steps, draw, noise).values()) for noise in NOISES]
            print(f"| {shape} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
