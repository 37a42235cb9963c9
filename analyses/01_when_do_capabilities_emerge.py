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
# # When do capabilities emerge?
#
# A model cannot do something, and some steps later it can. This notebook asks when, in five training runs that differ only in
# their seed, and what "when" can mean. It runs offline, in seconds, on the suite that ships with `interp`.

# %%
import pandas as pd
import plotly.graph_objects as go
from IPython.display import Markdown

import interp

suite = interp.suite("nano-3l")
suite

# %% [markdown]
# Five runs of a small model, each with checkpoints on the way. A *task* is a family of prompts with one right next token. Here
# is one: three people own something, it is told again, and somebody is asked for.

# %%
interp.task("named_item")

# %%
interp.prompts("named_item", suite.run(4), role="search", n=4)

# %% [markdown]
# A prompt is solved when the answer is the argmax over the whole vocabulary. The task is solved at a step when the share of
# solved prompts reaches its threshold, which lies above what a shortcut can reach. `scan` looks for the step by
# bisection: it visits a few checkpoints of each run, not all.

# %%
tasks = ["ioi", "string", "named_item"]
emergence = interp.scan(suite, tasks)
emergence[["seed", "task", "status", "pre", "post", "share_pre", "share_post", "p_pre", "p_post"]]

# %% [markdown]
# ## Not a step, but a bracket
#
# A row says: at step `pre` the task fails, at `post` it passes, and nobody looked between. Runs that never pass have no
# step. They are *censored* at their last one, and averaging that in would make up an emergence that nobody saw.

# %%
figure = go.Figure()
for place, task in enumerate(tasks):
    rows = emergence.loc[emergence["task"] == task]
    for row in rows.itertuples():
        height = place + (row.seed - 2) * 0.12
        if pd.isna(row.pre):
            last = max(row.steps)
            figure.add_scatter(
                x=[last], y=[height], mode="markers", marker={"symbol": "triangle-right-open", "size": 11, "color": "#777"},
                hovertext=f"seed {row.seed}: {row.status}, evaluated up to {last}", showlegend=False,
            )  # fmt: skip
        else:
            figure.add_scatter(
                x=[row.pre, row.post], y=[height] * 2, mode="lines", line={"width": 6, "color": "#0072b2"},
                hovertext=f"seed {row.seed}: between {row.pre} and {row.post}", showlegend=False,
            )  # fmt: skip
figure.update_layout(
    title="Brackets of five seeds; open triangles: never passed",
    xaxis_title="training step",
    yaxis={"tickvals": list(range(len(tasks))), "ticktext": tasks},
    height=380,
    template="plotly_white",
)

# %%
lines = []
for task in tasks:
    rows = emergence.loc[emergence["task"] == task]
    known = rows.dropna(subset=["post"])
    never = len(rows) - len(known)
    lines.append(
        f"- **{task}** is first known to pass between step {known['post'].min():,} and {known['post'].max():,}, depending on the "
        f"seed: a factor of {known['post'].max() / known['post'].min():.1f}."
        + (f" {never} of {len(rows)} seeds never pass." if never else "")
    )
Markdown("Same data, same recipe, other seed:\n\n" + "\n".join(lines))

# %% [markdown]
# ## What bisection does not see
#
# Bisection is cheap because it assumes that a task which passes goes on passing. Do these runs? The grid search evaluates every
# checkpoint. What bisection has evaluated already is not computed again: results lie in a store under a key of what made
# them.

# %%
every = interp.scan(suite, tasks, options=interp.Options(search="grid"))
bisected = sum(len(steps) for steps in emergence.groupby("seed")["steps"].first())
gridded = sum(len(steps) for steps in every.groupby("seed")["steps"].first())
Markdown(f"Bisection evaluated {bisected} checkpoints for all tasks together, the grid {gridded}.")

# %%
figure = go.Figure()
colours = dict(zip(tasks, ["#0072b2", "#d55e00", "#009e73"], strict=True))
for row in every.loc[every["seed"] == 4].itertuples():
    figure.add_scatter(x=row.steps, y=row.shares, name=f"{row.task}: share solved", line_color=colours[row.task])
    figure.add_scatter(
        x=row.steps, y=row.ps, name=f"{row.task}: p(answer)", line={"color": colours[row.task], "dash": "dot"}
    )
figure.add_hline(y=0.75, line_color="#999", annotation_text="threshold")
figure.update_layout(
    title="nano-3l, seed 4", xaxis_title="training step", yaxis_range=[0, 1.02], template="plotly_white", height=420
)

# %%
relapsing = every.loc[~every["monotone"]]
both = emergence.merge(every, on=["seed", "task"], suffixes=("", "_grid"))
earlier = both.loc[both["post_grid"] < both["post"]]
Markdown(
    f"Of {len(every)} pairs of run and task, {len(relapsing)} fail again at some step after they had passed"
    + (": " + ", ".join(f"{row.task} in seed {row.seed}" for row in relapsing.itertuples()) if len(relapsing) else "")
    + f". In {len(earlier)} of them the grid knows an earlier first pass than the bisection. So `monotone` is a column of the "
    "result, and a claim about *the* step of emergence needs the grid, or at least the curve."
)

# %% [markdown]
# ## One prompt or many?
#
# The literature follows a single prompt: `0 7 3 1 2 0 2 3`, told again, and greedy success. Here are both for the digits,
# in every seed.

# %%
one = interp.scan(suite, ["digit_string", "digit_string:single"], options=interp.Options(search="grid"))
one[["seed", "task", "status", "pre", "post", "monotone"]]

# %%
table = one.pivot(index="seed", columns="task", values="post").dropna()
apart = (table["digit_string"] - table["digit_string:single"]).abs()
flips = one.loc[one["task"] == "digit_string:single", "monotone"]
Markdown(
    f"In {int((apart > 0).sum())} of {len(table)} seeds the two disagree about the step at which it is first passed, by up to "
    f"{int(apart.max()):,} steps; with the one prompt, {int((~flips).sum())} of {len(flips)} seeds pass and fail again. A single "
    "prompt is one draw: its first success can be luck, and its failure one odd token."
)

# %% [markdown]
# Try next: `suite = interp.suite("nano-2l")` (two layers: some of these never come), another task of `interp tasks`, or your own
# folder of checkpoints. Notebook 02 goes on to *which heads*, 05 to what can be said over seeds.
