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
# # A patching session
#
# Between two checkpoints a model learns to say what a named person has. Which attention heads bring it? We write the later
# checkpoint's patterns into the earlier one, look at them, make an intervention of our own, and go on in TransformerLens.

# %%
import numpy as np
import plotly.express as px
import torch
from IPython.display import Markdown

import interp

run = interp.suite("nano-3l").run(seed=4)
row = interp.scan("nano-3l", "named_item", seeds=[4]).iloc[0]
pre, post = int(row["pre"]), int(row["post"])
Markdown(
    f"The task fails at step {pre:,} ({row['share_pre']:.0%} solved) and passes at {post:,} ({row['share_post']:.0%})."
)

# %% [markdown]
# ## Every head in one call
#
# Denoising: each head of the earlier checkpoint gets the later one's pattern, alone. Δp is the change of p(answer).

# %%
brings = interp.patch_heads(recipient=run.at(pre), donor=run.at(post), task="named_item")
brings

# %%
figure = brings.figure()
figure.update_layout(width=560, height=380, title="Denoising: does the new pattern bring it?")

# %% [markdown]
# And noising, the other way: the later checkpoint loses one head's pattern at a time. Denoising finds the last link of a
# chain, noising also the earlier ones.

# %%
breaks = interp.patch_heads(recipient=run.at(post), donor=run.at(pre), task="named_item")
breaks.top(4)

# %%
first, second = (interp.Head.parse(name) for name in breaks.top(2)["head"])
gap = float(brings.p_donor.mean() - brings.effects.p_recipient.mean())
top = brings.top(1).iloc[0]
Markdown(
    f"Denoising ranks **{top['head']}** first, with Δp = {top['delta_p']:+.3f} of a gap of {gap:+.3f}. "
    f"Noising ranks **{first}** and **{second}**."
)

# %% [markdown]
# ## What do these heads look at?
#
# One prompt, both checkpoints. Rows attend to columns.

# %%
prompts = interp.prompts("named_item", run)
prompt = prompts.prompts[0]
tokens = torch.tensor([prompt.tokens])
old, new = interp.load(run.at(pre)), interp.load(run.at(post))
words = ["BOS", *prompt.text.split()]
assert len(words) == len(prompt.tokens)


def pictures(patterns, heads, names):
    """Patterns [layer, 1, head, dest, src] of some heads side by side."""
    grids = np.stack([patterns[head.layer, 0, head.head].numpy() for head in heads])
    shown = px.imshow(grids, facet_col=0, zmin=0, zmax=1, color_continuous_scale="Blues", height=430)
    for note, name in zip(shown.layout.annotations, names, strict=True):
        note.text = name
    labels = [f"{word}·{place}" for place, word in enumerate(words)]
    shown.update_xaxes(tickvals=list(range(len(labels))), ticktext=labels, tickfont_size=7)
    return shown.update_yaxes(tickvals=list(range(len(labels))), ticktext=labels, tickfont_size=7)


pictures(new.patterns(tokens), [first, second], [f"{head} at step {post:,}" for head in (first, second)])

# %%
moved = (new.patterns(tokens) - old.patterns(tokens)).abs().sum(-1).mean((1, 3)) / 2
busiest = np.unravel_index(int(moved.argmax()), tuple(moved.shape))
Markdown(
    f"On this prompt, the mean share of attention that moved between the two steps is {float(moved[first.layer, first.head]):.2f} "
    f"in {first} and {float(moved[second.layer, second.head]):.2f} in {second}; the head that moved most is "
    f"{interp.Head(*map(int, busiest))} with {float(moved.max()):.2f}. A pattern need not change much to matter, and one that changes much "
    "need not matter: that is why we intervene."
)

# %%
looked = new.patterns(tokens)[second.layer, 0, second.head]
back = {distance: float(looked.diagonal(-distance).mean()) for distance in range(4)}
Markdown(
    f"How far does {second} look back here? "
    + ", ".join(f"{share:.2f} of its attention {far} back" for far, share in back.items())
    + ". On random words told twice its label is "
    + f"*{interp.patch('nano-3l', 'named_item', seeds=[4]).query('layer == @second.layer and head == @second.head')['label'].iloc[0]}*: "
    "a label holds for the prompts it was taken on."
)

# %% [markdown]
# ## Two heads together
#
# `interp.patched` writes a donor's patterns into heads of your choice while *your own* forward passes run. Effects of single
# heads do not add up; let us see.


# %%
def p_answer(module, prompts):
    """Mean probability of the answer over prompts, whatever their lengths."""
    found = []
    for one in prompts.prompts:
        logits = module(torch.tensor([one.tokens])).logits[0, -1].double()
        found.append(logits.softmax(-1)[one.answer].item())
    return float(np.mean(found))


some = prompts.subset(slice(0, 24))
alone = p_answer(old.module, some)
found = {"none": alone, "all, and the weights: the donor": p_answer(new.module, some)}
for heads in ([first], [second], [first, second]):
    with interp.patched(old, heads, new) as module:
        found[" + ".join(map(str, heads))] = p_answer(module, some)
figure = px.bar(
    x=list(found.values()), y=list(found), orientation="h", labels={"x": "p(answer)", "y": "patterns written"}
)
figure.update_layout(height=300, template="plotly_white")

# %%
singles = sum(found[str(head)] - alone for head in (first, second))
together = found[f"{first} + {second}"] - alone
how = "less than their sum, so each does a part of what the other does" if together < singles else "more than their sum"
Markdown(f"The two effects sum to {singles:+.3f}; together they are {together:+.3f}: {how}.")

# %% [markdown]
# ## An intervention of your own
#
# A donor can be any patterns of the right shape. What if a head attended to the previous token and nothing else? We write the ideal
# pattern into each head of the later checkpoint in turn. A head that already does it loses nothing.

# %%
patterns = new.patterns(tokens)
length = patterns.shape[-1]
ideal = torch.zeros(length, length)
ideal[range(1, length), range(length - 1)] = 1
ideal[0, 0] = 1
given = ideal.expand_as(patterns)
change = {}
for layer in range(new.n_layers):
    for head in range(new.n_heads):
        with interp.patched(new, [interp.Head(layer, head)], given) as module:
            logits = module(tokens).logits[0, -1].double()
        change[str(interp.Head(layer, head))] = float(logits.softmax(-1)[prompt.answer])
before = float(new.module(tokens).logits[0, -1].double().softmax(-1)[prompt.answer])
already = {
    name: float((patterns[:, 0] * ideal).sum(-1).mean(-1)[interp.Head.parse(name).layer, interp.Head.parse(name).head])
    for name in change
}
figure = px.scatter(
    x=list(already.values()), y=[value - before for value in change.values()], text=list(change),
    labels={"x": "attention on the previous token now", "y": "Δp of the ideal previous-token pattern"},
)  # fmt: skip
figure.update_traces(textposition="top center")
figure.update_layout(height=420, template="plotly_white")

# %%
nearest, worst = max(already, key=already.get), min(change, key=change.get)
Markdown(
    f"Nearest to such a head, on this prompt, is {nearest}, with a mean attention of {already[nearest]:.2f} on the previous token: there the ideal "
    f"pattern changes p(answer) by {change[nearest] - before:+.3f}. It does most harm in {worst}: {change[worst] - before:+.3f}."
)

# %% [markdown]
# ## On to TransformerLens
#
# The bridge is the same checkpoint as a `TransformerBridge`, with hooks and cache. Its patterns are ours, so that you can
# go on with whatever you know from there: here, knock a head out altogether.

# %%
bridge = interp.bridge(run.at(post))
logits, cache = bridge.run_with_cache(tokens)
largest = max(
    float((cache[f"blocks.{layer}.attn.hook_pattern"][0] - patterns[layer, 0]).abs().max())
    for layer in range(new.n_layers)
)
assert largest < 1e-5
Markdown(f"Largest difference between its patterns and ours: {largest:.1e}.")


# %%
def silenced(values, hook):
    """The head's output, zero at every position."""
    values[:, :, first.head] = 0
    return values


with torch.no_grad():
    ablated = bridge.run_with_hooks(tokens, fwd_hooks=[(f"blocks.{first.layer}.attn.hook_z", silenced)])
p = [float(each[0, -1].detach().double().softmax(-1)[prompt.answer]) for each in (logits, ablated)]
Markdown(
    f"On this prompt p(answer) is {p[0]:.3f}; with {first} silenced {p[1]:.3f}. Ablation asks whether the head matters; pattern patching, "
    "whether *what it attends to* does."
)

# %% [markdown]
# Everything at once, stored and with controls, is `interp.patch("nano-3l", "named_item", seeds=[4])`, and
# `interp.write_report()` makes a page of it that you can send to somebody.
