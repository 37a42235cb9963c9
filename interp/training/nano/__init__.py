"""The nano suites: their words, their corpus, their recipe."""
