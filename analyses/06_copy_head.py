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
# # When does one attention layer learn to copy, and does it jump?
#
# Theory, training and sampling of the copy task in a small setting (L = 16, V = 5), then real heads of the shipped suite
# on the same axes. The formulas are our own derivation (docs/copy_head.md); P is the number of training sequences.

# %%
import tempfile

import pandas as pd

from interp.execution import InProcess
from interp.labs.copy_head import linear, softmax
from interp.labs.copy_head.bridge import BRIDGE
from interp.labs.copy_head.diagram import PHASE_DIAGRAM
from interp.labs.copy_head.experiment import QUICK, Lab
from interp.labs.copy_head.hysteresis import HYSTERESIS
from interp.labs.copy_head.landscape import LANDSCAPE
from interp.labs.copy_head.setting import SMALL
from interp.store import Store

lab = Lab(QUICK, InProcess(), Store(tempfile.mkdtemp()), ("nano-3l",))

# %% [markdown]
# ## Where the theory puts the transitions

# %%
print(f"linear attention pools at P_c = {linear.pooling_threshold(SMALL):.1f}")
print(f"linear attention copies from about P_x = {linear.crossover(SMALL):.1f}")
print(softmax.transition(SMALL))

# %% [markdown]
# ## Theory, Adam and HMC

# %%
diagram = PHASE_DIAGRAM.table(lab)
for plot in PHASE_DIAGRAM.figures(diagram):
    plot.figure().show()
pd.DataFrame(PHASE_DIAGRAM.short(diagram))

# %% [markdown]
# ## Two starts, two ends: hysteresis

# %%
branches = HYSTERESIS.table(lab)
HYSTERESIS.figures(branches)[0].figure().show()
pd.DataFrame(HYSTERESIS.short(branches))

# %% [markdown]
# ## The landscape behind it

# %%
for plot in LANDSCAPE.figures(LANDSCAPE.table(lab)):
    plot.figure().show()

# %% [markdown]
# ## Real heads
#
# Sharpness in training time is not the order of a transition in P: this asks only what a path looks like at the spacing
# of these checkpoints.

# %%
heads = BRIDGE.table(lab)
BRIDGE.figures(heads)[0].figure().show()
pd.DataFrame(BRIDGE.short(heads))
