"""Published examples: data and the numbers that were printed with them."""

import math

import numpy as np

INF = math.inf


def columns(rows: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of intervals (low, high]."""
    low, high = np.array(rows, dtype=float).T
    return low, high


# months to breast retraction (Finkelstein and Wolfe 1985, Biometrics 41:933): radiotherapy alone, and with chemotherapy
RADIO = columns([
    (45, INF), (6, 10), (0, 7), (46, INF), (46, INF), (7, 16), (17, INF), (7, 14), (37, 44), (0, 8), (4, 11), (15, INF),
    (11, 15), (22, INF), (46, INF), (46, INF), (25, 37), (46, INF), (26, 40), (46, INF), (27, 34), (36, 44), (46, INF),
    (36, 48), (37, INF), (40, INF), (17, 25), (46, INF), (11, 18), (38, INF), (5, 12), (37, INF), (0, 5), (18, INF),
    (24, INF), (36, INF), (5, 11), (19, 35), (17, 25), (24, INF), (32, INF), (33, INF), (19, 26), (37, INF), (34, INF),
    (36, INF),
])  # fmt: skip
CHEMO = columns([
    (8, 12), (0, 22), (24, 31), (17, 27), (17, 23), (24, 30), (16, 24), (13, INF), (11, 13), (16, 20), (18, 25),
    (17, 26), (32, INF), (23, INF), (44, 48), (14, 17), (0, 5), (5, 8), (12, 20), (11, INF), (33, 40), (31, INF),
    (13, 39), (19, 32), (34, INF), (13, INF), (16, 24), (35, INF), (15, 22), (11, 17), (22, 32), (10, 35), (30, 34),
    (13, INF), (10, 17), (8, 21), (4, 9), (11, INF), (14, 19), (4, 8), (34, INF), (30, 36), (18, 24), (16, 60),
    (35, 39), (21, INF), (11, 20), (48, INF),
])  # fmt: skip
# the estimates, and Sun's log-rank, as R's package `interval` prints them (Fay and Shaw 2010, J. Stat. Soft. 36:2)
RADIO_MASS = {
    (4, 5): 0.0463, (6, 7): 0.0334, (7, 8): 0.0887, (11, 12): 0.0708, (24, 25): 0.0926, (33, 34): 0.0818,
    (38, 40): 0.1209, (46, 48): 0.4656,
}  # fmt: skip
CHEMO_MASS = {
    (4, 5): 0.0433, (5, 8): 0.0433, (11, 12): 0.0692, (16, 17): 0.1454, (18, 19): 0.1411, (19, 20): 0.1157,
    (24, 25): 0.0999, (30, 31): 0.0709, (35, 36): 0.1608, (44, 48): 0.0552, (48, 60): 0.0552,
}  # fmt: skip
RADIO_SCORE, COSMESIS_P = -9.141846, 0.007622

# weeks of remission (Freireich and others 1963), as in Cox and Oakes 1984: + is censored
MERCAPTOPURINE = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+"
PLACEBO = "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23"
MERCAPTOPURINE_SURVIVAL = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448}
MERCAPTOPURINE_EXPECTED = 19.25  # deaths that log-rank expects in this group; 9 were observed


def remission(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Exact times as single steps, censored ones as (time, ∞)."""
    return columns([(float(t.rstrip("+")), INF if t.endswith("+") else float(t)) for t in text.split()])
