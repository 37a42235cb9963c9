"""Donor patterns in a user's own forward passes."""


def patched(): ...
