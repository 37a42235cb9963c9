"""The copy-head phase transition: one attention layer that learns to output the previous token.

Theory, training, sampling and plots of the account of Lavie et al. 2026 (arXiv 2606.12058). The paper's text was not at
hand: task, symmetry and the three scalings are theirs, every formula, size and convention here is our own derivation
(docs/copy_head.md says which were inferred, and how).
"""
