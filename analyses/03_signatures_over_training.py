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
# # Signatures over training
#
# Heads have looks: attention on the previous token, on the token after an earlier copy (induction), on the first token. How do
# these looks come about while a task is learned, and do the heads that change most carry the task? A look is an observation, Δp is
# an intervention; here we hold the one against the other, in two seeds.

# %%
import plotly.express as px
import plotly.graph_objects as go
from IPython.display import Markdown

import interp

tasks, seeds = ["string", "named_item"], [3, 4]
few = interp.Options(draws=5)  # fewer random controls than by default: this is to be quick
heads = interp.patch("nano-3l", tasks, seeds=seeds, options=few)
traced = interp.trace("nano-3l", tasks, steps=None, seeds=seeds, options=few)  # steps=None: every checkpoint

# %% [markdown]
# ## The curve, before any threshold
#
# Mean p(answer), the share of solved prompts and the margin in logits, with 95 % intervals over prompts. A share can jump where
# nothing in the model does: many margins cross zero together when all rise slowly. So look at the margin too.

# %%
seed, task = 4, "named_item"
curve = traced.curves.query("seed == @seed and task == @task")
figure = go.Figure()
for measure, colour in (("p", "#0072b2"), ("share", "#d55e00")):
    figure.add_scatter(x=curve["step"], y=curve[measure], name=measure, line_color=colour)
    figure.add_scatter(
        x=[*curve["step"], *curve["step"][::-1]], y=[*curve[f"{measure}_high"], *curve[f"{measure}_low"][::-1]],
        fill="toself", line_color="rgba(0,0,0,0)", fillcolor=colour, opacity=0.15, showlegend=False, hoverinfo="skip",
    )  # fmt: skip
figure.add_scatter(
    x=curve["step"], y=curve["margin"], name="margin (right axis)", yaxis="y2", line={"color": "#777", "dash": "dot"}
)
bracket = traced.emergence.query("seed == @seed and task == @task").iloc[0]
figure.add_vrect(x0=bracket["pre"], x1=bracket["post"], fillcolor="#999", opacity=0.3, annotation_text="bracket")
figure.update_layout(
    title=f"{task}, seed {seed}", xaxis_title="step", yaxis_range=[0, 1.02], yaxis2={"overlaying": "y", "side": "right", "title": "logits"},
    template="plotly_white", height=400,
)  # fmt: skip

# %%
sharp = traced.onsets.query("measure in ['p', 'lasting', 'margin']")[
    ["seed", "task", "measure", "verdict", "low_step", "high_step", "doublings", "at_least", "at_most", "artefact"]
]
sharp.round(2)

# %%
flagged = traced.onsets.loc[traced.onsets["artefact"]]
rises = traced.onsets.query("measure == 'p' and verdict == 'measured'")
Markdown(
    f"From 10 to 90 % of its rise, p takes between {rises['doublings'].min():.2f} and {rises['doublings'].max():.2f} doublings of the step in these "
    f"{len(rises)} pairs of seed and task. "
    + (
        f"In {len(flagged[['seed', 'task']].drop_duplicates())} of them a measure rises surely sharper than the margin: there the threshold makes some of the sharpness."
        if len(flagged)
        else "In none of them is a measure surely sharper than the margin itself, so the sharpness is not made by the threshold."
    )
)

# %% [markdown]
# ## How the looks come about
#
# Scores on random words told twice, which no task has a part in. One line is one head.

# %%
signatures = interp.Store(".interp").table("signatures")
looks = signatures.query("seed == @seed and prompts == 'random' and score in ['previous_token', 'induction']").copy()
looks["name"] = [str(interp.Head(*pair)) for pair in zip(looks["layer"], looks["head"], strict=True)]
figure = px.line(
    looks.sort_values("step"),
    x="step",
    y="value",
    color="name",
    facet_col="score",
    markers=True,
    labels={"value": "mean attention", "name": "head"},
)
for _, row in traced.emergence.query("seed == @seed").iterrows():
    figure.add_vrect(
        x0=row["pre"],
        x1=row["post"],
        fillcolor="#999",
        opacity=0.3,
        annotation_text=row["task"],
        annotation_textangle=90,
    )
figure.update_layout(template="plotly_white", height=420, title=f"nano-3l, seed {seed}")

# %%
lines = []
for one in seeds:
    of_seed = traced.changes.query(
        "seed == @one and prompts == 'random' and task == 'named_item' and verdict != 'none'"
    )
    for score, word in (("previous_token", "previous-token"), ("induction", "induction")):
        largest = of_seed.loc[of_seed["score"] == score].sort_values("after").tail(1)
        for row in largest.itertuples():
            lines.append(
                f"- seed {one}: the strongest {word} head, L{row.layer}H{row.head}, ends at {row.after:.2f}; it comes {row.verdict}ly between steps "
                f"{row.from_step:,} and {row.to_step:,}: *{row.relation}* the bracket of named_item"
            )
Markdown("\n".join(lines))

# %% [markdown]
# *Before* means over by the bracket's lower end, *in* that the two overlap. A look that comes before a task can be what the task is
# waiting for, or what merely comes early. For that there is the intervention.

# %% [markdown]
# ## Looks and effects
#
# Do the heads whose look changed most between the ends of the bracket have the largest effects? First the causal heads, beside their looks.

# %%
causal = heads.loc[heads["causal"]]
shown = causal[["seed", "task", "direction", "layer", "head", "delta_p", "label_pre", "label"]]
shown.assign(induction=causal["induction_post"], previous_token=causal["previous_token_post"]).round(2)

# %%
rho = traced.agreement.query(
    "direction == 'denoising' and score in ['previous_token', 'induction', 'duplicate_token', 'a_1', 'entropy']"
)
figure = px.scatter(
    rho.assign(run="seed " + rho["seed"].astype(str) + ", " + rho["task"]), x="rho", y="score", color="run",
    error_x=rho["rho_high"] - rho["rho"], error_x_minus=rho["rho"] - rho["rho_low"],
    labels={"rho": "rank correlation of |Δp| with |change of the score|"},
)  # fmt: skip
figure.add_vline(x=0, line_color="#999")
figure.update_layout(template="plotly_white", height=420)

# %%
tests = traced.agreement
Markdown(
    f"Of {len(tests)} correlations (seed × task × direction × score), {int((tests['p_layer'] < 0.05).sum())} have p < .05 when heads are shuffled within their "
    f"layers, and {int((tests['p_holm'] < 0.05).sum())} after Holm's correction in their run. Twelve heads are few: what agrees here is which "
    "heads are *first* (the table above), not the order of the rest. On a model with hundreds of heads the same columns say more."
)

# %% [markdown]
# Try next: `traced.agreement_seeds`, which asks whether first heads of different seeds look alike, and `steps=None` on a suite of your own.
