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
# # Your own checkpoints, your own task
#
# We train a small model from nothing, keep checkpoints, write a task file, and ask when the model learns the task and
# which heads bring it. Then we look twice at what the heads do. Nothing here is known to `interp` beforehand: a folder and a
# file are all it needs.

# %%
import json
import random
from pathlib import Path

import plotly.express as px
import plotly.graph_objects as go
import torch
from IPython.display import Markdown
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM
from transformers.utils import logging

import interp

logging.disable_progress_bar()

torch.set_num_threads(1)
folder = Path("my-suite")
words = ["<|endoftext|>", *(f"w{i}" for i in range(1, 32))]

# %% [markdown]
# ## A tokenizer and a model
#
# A suite needs `tokenizer.json`. Here a word is a token.

# %%
folder.mkdir(exist_ok=True)
tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=words[0]))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer.add_special_tokens([words[0]])
tokenizer.save(str(folder / "tokenizer.json"))
(folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": words[0]}))


def build(seed):
    """Two layers, four heads: the smallest model in which one head can prepare what another reads."""
    torch.manual_seed(seed)
    config = GPTNeoXConfig(
        vocab_size=len(words), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        rotary_pct=1.0, max_position_embeddings=64, attn_implementation="eager", bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return GPTNeoXForCausalLM(config)


# %% [markdown]
# ## Training, with checkpoints on the way
#
# The data: eight different words, and the same eight again. The second half can be foretold from the first.


# %%
def train(seed, steps=160, every=10):
    """A run in the form that interp reads: seed<S>/step<N>/ with config.json and weights."""
    model, chance = build(seed), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    losses = []
    for step in range(steps + 1):
        if step % every == 0:
            model.save_pretrained(folder / f"seed{seed}" / f"step{step}", safe_serialization=True)
        once = torch.stack([torch.randperm(len(words) - 1, generator=chance)[:8] + 1 for _ in range(32)])
        tokens = torch.cat([torch.zeros(32, 1, dtype=torch.int64), once, once], 1)
        logits = model(tokens).logits[:, 8:-1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 9:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


losses = {seed: train(seed) for seed in (0, 1)}
px.line(losses, labels={"index": "step", "value": "loss on the second half", "variable": "seed"}).update_layout(
    height=320
)

# %% [markdown]
# ## A task file
#
# Rows of prompt, answer and foil, and what counts as solved. The rows are dealt in turn to the prompts that the bracket is
# chosen on and to those that effects are measured on. The foil is a word that the prompt has too.

# %%
chance, rows = random.Random(0), []
for i in range(128):
    line = chance.sample(words[1:], 8)
    told = 2 + i % 5
    rows.append({"prompt": " ".join(line + line[:told]), "answer": " " + line[told], "foil": " " + line[told + 1]})
Path("again.jsonl").write_text("\n".join(map(json.dumps, rows)))
Path("again.toml").write_text("""
name = "again"
version = 1
title = "Tell eight words again"
ceiling = 0.2
shortcut = "Say any word that was told and not told again yet: 2 to 6 of them, each as likely."
threshold = 0.75
reference = "this notebook"

[family]
kind = "rows"
path = "again.jsonl"
""")
task = interp.task("again.toml")
task

# %% [markdown]
# Is the ceiling honest? A guess among the words that were not told again is right once in their number, on average over the prompts:

# %%
guess = sum(1 / (8 - (2 + i % 5)) for i in range(128)) / 128
ceiling = task.ceiling
Markdown(f"{guess:.2f}, and the file says {ceiling}." + (" The file flatters: correct it." if guess > ceiling else ""))

# %% [markdown]
# It was not, and the cell above found it. This is the commonest fault of a task of one's own; correct it, and raise the
# version whenever prompts change.

# %%
text = Path("again.toml").read_text()
Path("again.toml").write_text(text.replace("ceiling = 0.2", f"ceiling = {round(guess + 0.005, 2)}"))
task = interp.task("again.toml")

# %% [markdown]
# ## When

# %%
suite = interp.suite(folder)
grid = interp.Options(search="grid")
found = interp.scan(suite, task, options=grid)
found[["seed", "task", "status", "pre", "post", "share_pre", "share_post", "monotone"]]

# %%
figure = go.Figure()
for row in found.itertuples():
    figure.add_scatter(x=row.steps, y=row.shares, name=f"seed {row.seed}")
figure.add_hline(y=task.threshold, line_color="#999", annotation_text="threshold")
figure.add_hline(y=task.ceiling, line_color="#999", line_dash="dot", annotation_text="shortcut")
figure.update_layout(xaxis_title="step", yaxis_title="share solved", template="plotly_white", height=340)

# %% [markdown]
# ## Which heads
#
# The same call as for any suite: both directions, with controls.

# %%
heads = interp.patch(suite, task, options=grid)
first = heads.loc[heads["rank"] <= 2]
first[["seed", "direction", "rank", "layer", "head", "delta_p", "sim_low", "sim_high", "causal", "label"]]

# %% [markdown]
# Single heads do little here. How much do they bring together? `joint` has the first K heads (ranked on one half of the prompts,
# measured on the other), and all of them.

# %%
joint = interp.Store(".interp").table("joint").query("suite == @suite.name and set in ['top', 'all']")
px.line(
    joint.sort_values("k"), x="k", y="recovered", color="seed", facet_col="direction", markers=True,
    error_y=joint.sort_values("k").eval("recovered_high - recovered"), labels={"recovered": "share of the gap", "k": "heads patched"},
).update_layout(height=340, template="plotly_white")  # fmt: skip

# %%
brought = joint.query("direction == 'denoising'").groupby("set")["recovered"].mean()
one = joint.query("direction == 'denoising' and k == 1")["recovered"].mean()
broken = joint.query("direction == 'noising' and set == 'all'")["recovered"].mean()
Markdown(
    f"On average over the two seeds, the first head's new pattern brings {one:.0%} of the gap and all eight heads' together {brought['all']:.0%}; "
    f"taking all the new patterns away again loses {broken:.0%}. What patterns do not bring, values and MLPs do. Not every emergence is the "
    "work of one head; compare notebook 02."
)

# %% [markdown]
# ## Look twice
#
# Is the first head of each run an *induction* head, one that finds the earlier copy by its content? All prompts were eight words long. A
# head that has learned to look back eight places does as well. On the task's own prompts nobody can tell the two apart. Random words
# told twice in other lengths (6, 12 and 20) can: only a head that reads content follows there.

# %%
signatures = interp.Store(".interp").table("signatures")
last = signatures.loc[(signatures["suite"] == suite.name) & (signatures["score"] == "induction")]
lines = []
for row in first.loc[(first["rank"] == 1) & (first["direction"] == "denoising")].itertuples():
    of_head = last.loc[(last["seed"] == row.seed) & (last["layer"] == row.layer) & (last["head"] == row.head)]
    of_head = of_head.loc[of_head["step"] == row.post].set_index("prompts")["value"]
    lines.append(
        f"- seed {row.seed}, L{row.layer}H{row.head}, step {row.post}: {of_head['task']:.2f} on the task's prompts, "
        f"{of_head['random']:.2f} in other lengths"
    )
Markdown("Attention on the word after the earlier copy:\n\n" + "\n".join(lines))

# %%
model = interp.load(suite.run(0).at(suite.run(0).steps[-1]))
chosen = first.loc[(first["seed"] == 0) & (first["rank"] == 1) & (first["direction"] == "denoising")].iloc[0]
pictures = []
for length in (8, 12):
    line = torch.tensor([[0, *range(1, length + 1), *range(1, length + 1)]])
    pattern = model.patterns(line)[chosen["layer"], 0, chosen["head"]]
    aim = [float(pattern[length + i, i + 1]) for i in range(1, length)]
    pictures.append((length, pattern, sum(aim) / len(aim)))
px.imshow(
    pictures[1][1].numpy(), color_continuous_scale="Blues", height=420, labels={"x": "attended", "y": "from"},
    title=f"L{chosen['layer']}H{chosen['head']} on twelve words told twice",
)  # fmt: skip

# %%
Markdown(
    f"With eight words the head puts {pictures[0][2]:.2f} of its attention on the word that comes next; with twelve, which it never saw in training, "
    f"{pictures[1][2]:.2f}. Whatever the number says in your run: a signature holds for the prompts it was taken on."
)

# %% [markdown]
# ## The report
#
# One file, for somebody who has nothing installed.

# %%
interp.write_report(out="my-report.html", title="Eight words again")
