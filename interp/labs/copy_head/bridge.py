"""Real heads on the plane (a_1, a_G): every head of a suite over training, and how previous-token heads get there.

Order parameters are the causal ones of `interp.signatures` on random words told twice. Sharpness in training time is
not the order of a transition in P: the theory knows no training time, and a smooth crossover can be fast in steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import trajectories
from interp.labs.copy_head.experiment import Experiment, Lab
from interp.labs.copy_head.trajectories import Verdict
from interp.provenance import Options
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title
from interp.suites import Run, suite

_RISE_COLUMNS = (
    "suite", "seed", "head", "verdict", "largest", "middle", "from_step", "to_step", "a_1_before", "coverage_before",
    "pooled_before", "coverage_least", "off_line",
)  # fmt: skip
_SCORES = ("a_1", "a_G", "sink", "coverage", "previous_token")


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of suite, seed, step, layer, head, a_1, a_G, sink, coverage, previous_token; two runs in the quick form."""
    found = [_run(run, lab) for run in _runs(lab)]
    return pd.concat(found, ignore_index=True)


def weights(lab: Lab) -> dict[str, Any]:
    """The weight hashes of every checkpoint that is read."""
    return {"weights": {str(run.id): [run.at(step).weights for step in run.steps] for run in _runs(lab)}}


def _runs(lab: Lab) -> list[Run]:
    first = 2 if lab.size.seeds == 1 else None
    return [run for name in lab.suites for run in suite(name).runs[:first]]


def _run(run: Run, lab: Lab) -> pd.DataFrame:
    # the model libraries take seconds to import
    from interp.bench import Bench
    from interp.models.loading import Loader
    from interp.observing import observe
    from interp.tasks import tokenizer

    options = Options()
    loader = Loader(options.dtype, options.device, run.fetch)
    work, rows = Bench(run, {}, lab.store, options, tokenizer(run.tokenizer), loader), []
    for step in run.steps:
        seen = observe(work, run.at(step), None)
        wide = seen.loc[seen["score"].isin(_SCORES)].pivot(index=["layer", "head"], columns="score", values="value")
        rows.append(wide.reset_index().assign(suite=run.id.suite, seed=run.seed, step=step))
    return pd.concat(rows, ignore_index=True).loc[:, ["suite", "seed", "step", "layer", "head", *_SCORES]]


def rises(frame: pd.DataFrame) -> pd.DataFrame:
    """How every head that becomes a previous-token head got there (see `trajectories.rise`).

    Columns: suite, seed, head, verdict, largest (share of the rise in one interval), middle (checkpoints there),
    from_step, to_step (the largest interval), a_1_before, coverage_before (at from_step), pooled_before,
    coverage_least (on the way), off_line (largest |1 − a_1 − a_G| on the way: how far from softmax's line it leads).
    """
    rows = []
    for (name, seed, layer, head), path in frame.groupby(["suite", "seed", "layer", "head"]):  # pyright: ignore
        path = path.sort_values("step")
        a_g = path["a_G"].to_numpy()
        if not trajectories.rises(a_g):
            continue
        how = trajectories.rise(a_g)
        before = path.iloc[how.place]
        rows.append({
            "suite": name, "seed": seed, "head": f"L{layer}H{head}", "verdict": str(how.verdict),
            "largest": how.largest, "middle": how.middle, "from_step": int(before["step"]),
            "to_step": int(path["step"].iloc[how.place + 1]), "a_1_before": before["a_1"],
            "coverage_before": before["coverage"],
            "pooled_before": bool(before["a_1"] >= trajectories.POOLED and before["coverage"] >= trajectories.POOLED),
            "coverage_least": path["coverage"].min(), "off_line": float(np.abs(1 - path["a_1"].to_numpy() - a_g).max()),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=list(_RISE_COLUMNS))


def noise(frame: pd.DataFrame) -> float:
    """Standard deviation of a_G between neighbouring checkpoints once a head has risen, over √2: the rule's noise."""
    late = []
    for _, path in frame.groupby(["suite", "seed", "layer", "head"]):
        a_g = path.sort_values("step")["a_G"].to_numpy()
        if trajectories.rises(a_g):
            late += np.diff(a_g[-4:]).tolist()
    return float(np.std(late) / np.sqrt(2)) if late else 0.02


def rates(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares of verdicts on simulated rises at each suite's own checkpoints, by the true width in mean intervals."""
    rows = []
    for name, group in frame.groupby("suite"):
        each = [
            pd.DataFrame(trajectories.error_rates(sorted(run["step"].unique().tolist()), noise(frame), 200))
            for _, run in group.groupby("seed")
        ]
        rows += [one.assign(suite=name) for one in each]
    return pd.DataFrame(pd.concat(rows).groupby(["suite", "width"], as_index=False).mean())


_COLOURS = {Verdict.ABRUPT: style.ORANGE, Verdict.MIDDLE: style.BLUE, Verdict.OPEN: style.GREEN}


def figures(frame: pd.DataFrame) -> list[Plot]:
    """Every head at every checkpoint on the plane, and a_G over steps of those that become previous-token heads."""
    found = rises(frame)
    named = {} if found.empty else found.set_index(["suite", "seed", "head"])["verdict"].to_dict()
    paths = [
        (f"{name}/seed{seed} L{layer}H{head}", named[name, seed, f"L{layer}H{head}"], path.sort_values("step"))
        for (name, seed, layer, head), path in frame.groupby(["suite", "seed", "layer", "head"])  # pyright: ignore
        if (name, seed, f"L{layer}H{head}") in named
    ]
    return [_plane(frame, paths), _over_steps(paths)]


def _plane(frame: pd.DataFrame, paths: list[tuple[str, str, pd.DataFrame]]) -> Plot:
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "markers", "name": "every head, every checkpoint", "hoverinfo": "skip",
            "x": frame["a_1"].round(3).tolist(), "y": frame["a_G"].round(3).tolist(),
            "marker": {"size": 3, "color": style.TICK},
        },
        {
            "type": "scatter", "mode": "lines", "x": [1, 0], "y": [0, 1], "name": "softmax of the theory: a₁ + a_G = 1",
            "line": {"color": style.GREY, "dash": "dot", "width": 1}, "hoverinfo": "skip",
        },
    ]  # fmt: skip
    traces += [_path(name, verdict, path, ("a_1", "a_G")) for name, verdict, path in paths]
    axes = {"xaxis": {"title": {"text": "a₁ (pooling)"}}, "yaxis": {"title": {"text": "a_G (previous token)"}}}
    heading = title("Heads on the plane; lines: those that become previous-token heads")
    return plot(traces, 460, axes | {"title": heading, "margin": {"t": 90}})


def _over_steps(paths: list[tuple[str, str, pd.DataFrame]]) -> Plot:
    traces = [_path(name, verdict, path, ("step", "a_G")) for name, verdict, path in paths]
    axes = {"xaxis": {"title": {"text": "training step"}}, "yaxis": {"title": {"text": "a_G"}}}
    return plot(
        traces, 340, axes | {"title": title("a_G over steps, orange: abrupt at this spacing; blue: through the middle")}
    )


def _path(name: str, verdict: str, path: pd.DataFrame, axes: tuple[str, str]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "showlegend": False,
        "x": path[axes[0]].round(3).tolist(), "y": path[axes[1]].round(3).tolist(),
        "text": [f"step {step}" for step in path["step"]], "marker": {"size": 5},
        "line": {"color": _COLOURS[Verdict(verdict)], "width": 1.3},
        "hovertemplate": f"<b>{name}</b>, {verdict}<br>%{{text}}: a_G %{{y:.2f}}<extra></extra>",
    }  # fmt: skip


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Per suite and verdict: how many heads, how many were pooled before; then the rule's error rates."""
    found, errors, rows = rises(frame), rates(frame).set_index(["suite", "width"]), []
    for name in dict.fromkeys(frame["suite"]):
        group = found.loc[found["suite"] == name]
        for verdict in Verdict:
            same = group.loc[group["verdict"] == str(verdict)]
            rows.append({
                "suite": name, "path": str(verdict), "heads": len(same), "of": len(group),
                "pooled before": int(same["pooled_before"].sum()),
                "least coverage": float(same["coverage_least"].min()) if len(same) else None,
                "largest share": [float(same["largest"].min()), float(same["largest"].max())] if len(same) else None,
                "of simulated jumps": errors.loc[(name, 0.0), str(verdict)],
                "of rises 2 intervals wide": errors.loc[(name, 2.0), str(verdict)],
                "of rises 4 intervals wide": errors.loc[(name, 4.0), str(verdict)],
            })  # fmt: skip
    return rows


BRIDGE = Experiment(
    "bridge",
    "Real heads on the same plane",
    "Causal order parameters of every head of a suite over training. The verdict is about this spacing of checkpoints "
    "in training time; it does not tell the order of a transition in P, which the theory is about.",
    compute,
    figures,
    short,
    weights,
)
