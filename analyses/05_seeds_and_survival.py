# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Seeds and survival
#
# One run emerges at step 2,100, another at 1,300, a third not at all. What can be said of the *recipe*? Emergence times are
# known only up to a bracket, and runs that never pass are known only not to have passed. That is survival analysis with
# interval-censored data, and this notebook shows why the shortcuts mislead.

# %%
import pandas as pd
import plotly.graph_objects as go
from IPython.display import Markdown

import interp

tasks = ["ioi", "string", "named_item"]
grid = interp.Options(search="grid")
scans = [interp.scan(name, tasks, options=grid) for name in ("nano-2l", "nano-3l")]
every = pd.concat(scans, ignore_index=True)
every[["suite", "seed", "task", "status", "pre", "post", "lasting_status", "lasting_post"]]

# %% [markdown]
# ## The survival curve
#
# The share of runs in which the task has *not* emerged by a step. Turnbull's estimate needs no more than the brackets; between the
# ends of a bracket nobody knows, and the curve says so.

# %%
cohorts = interp.cohort(".interp", task=tasks)
colours = dict(zip(tasks, ["#0072b2", "#d55e00", "#009e73"], strict=True))
figure = go.Figure()
for task, part in cohorts.survival.query("suite == 'nano-3l'").groupby("task"):
    figure.add_scatter(x=part["step"], y=part["survival"], name=task, line={"shape": "hv", "color": colours[task]})
    figure.add_scatter(
        x=[*part["step"], *part["step"][::-1]], y=[*part["high"], *part["low"][::-1]], fill="toself", fillcolor=colours[task],
        opacity=0.12, line_color="rgba(0,0,0,0)", showlegend=False, hoverinfo="skip",
    )  # fmt: skip
figure.update_layout(
    title="nano-3l: share of five seeds in which the task has not emerged", xaxis_title="step", yaxis_range=[0, 1.02],
    template="plotly_white", height=420,
)  # fmt: skip

# %%
columns = [
    "suite", "task", "runs", "emerged", "censored", "solved", "solved_low", "solved_high", "median_pre", "median_post", "median_low", "median_high",
]  # fmt: skip
cohorts.cohort[columns].round(2)

# %%
row = cohorts.cohort.query("suite == 'nano-3l' and task == 'named_item'").iloc[0]
Markdown(
    f"named_item emerges in {row['emerged']} of {row['runs']} seeds of nano-3l: a share of {row['solved']:.2f}, and with so few runs anything from "
    f"{row['solved_low']:.2f} to {row['solved_high']:.2f}. Five seeds say *that* seeds differ, and little about how much."
)

# %% [markdown]
# ## What the shortcuts do
#
# Two habits: leave unsolved runs out, or write the last step for them. And the restricted mean, which needs neither: the mean
# time *up to a horizon*, E min(T, horizon).

# %%
rows = []
for (suite, task), part in every.groupby(["suite", "task"]):
    last = max(max(steps) for steps in part["steps"])
    known = part["post"].dropna().astype(float)
    estimate = cohorts.cohort.query("suite == @suite and task == @task").iloc[0]
    rows.append(
        {
            "suite": suite, "task": task, "never": int(part["post"].isna().sum()), "left out": known.mean(),
            "last step written in": part["post"].astype(float).fillna(last).mean(),
            "restricted mean": estimate["mean"], "low": estimate["mean_low"], "high": estimate["mean_high"],
        }
    )  # fmt: skip
means = pd.DataFrame(rows)
means.round(0)

# %%
apart = (
    means.assign(apart=(means["last step written in"] - means["left out"]).abs()).sort_values("apart").dropna().iloc[-1]
)
never = means.loc[means["left out"].isna(), ["suite", "task"]].agg(" ".join, axis=1).tolist()
Markdown(
    f"The two habits differ most for {apart['task']} in {apart['suite']}, by {apart['apart']:,.0f} steps. "
    + (
        f"For {' and '.join(never)} there is nothing to average at all, and a mean of the last step would be a number about when training stopped."
        if never
        else ""
    )
)

# %% [markdown]
# ## Do two sizes differ?
#
# A log-rank test for interval-censored times, by permutation of the runs. It says beforehand how small its p could get.

# %%
cohorts.tests[["task", "test", "tested", "statistic", "p_value", "p_holm", "smallest_p", "said"]]

# %%
judged = cohorts.tests.query("test == 'log_rank' and tested")
lines = [
    f"- {row.task}: p = {row.p_value:.3f} (Holm {row.p_holm:.3f}); with these runs it could not have been below {row.smallest_p:.3f}"
    for row in judged.itertuples()
]
Markdown(
    "nano-2l against nano-3l:\n\n" + "\n".join(lines) if lines else "No test was made: too few runs, as `said` tells."
)

# %% [markdown]
# ## First or lasting?
#
# A run can pass, fail again and pass for good. `first` is the earliest known pass; `lasting` is passed there and at every
# later evaluated step.

# %%
both = {which: interp.cohort(".interp", task=tasks, which=which).times for which in ("first", "lasting")}
pair = both["first"].merge(both["lasting"], on=["suite", "seed", "task"], suffixes=("_first", "_lasting"))
pair = pair.dropna(subset=["high_first", "high_lasting"]).astype({"high_first": float, "high_lasting": float})
figure = go.Figure()
for task, part in pair.groupby("task"):
    names = part["suite"] + ", seed " + part["seed"].astype(str)
    figure.add_scatter(
        x=part["high_first"],
        y=part["high_lasting"],
        mode="markers",
        name=task,
        text=names,
        marker={"size": 9, "color": colours[task]},
    )
figure.add_scatter(x=[0, 3000], y=[0, 3000], mode="lines", line={"color": "#999", "dash": "dot"}, showlegend=False)
figure.update_layout(
    xaxis_title="first known pass", yaxis_title="lasting from", template="plotly_white", height=420, width=560
)

# %%
later = pair.loc[pair["high_lasting"] > pair["high_first"]]
Markdown(
    f"{len(later)} of {len(pair)} emerged pairs of run and task pass for good only later than they first pass"
    + (f", by up to {int((later['high_lasting'] - later['high_first']).max()):,} steps." if len(later) else ".")
)
