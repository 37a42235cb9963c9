"""Trains small models and writes them as a suite, in the layout of any other."""

from interp.training.nano.suite import train
from interp.training.schedule import Schedule
from interp.training.trainer import Optimisation, Plan, Watch, next_token_loss, train_run

__all__ = ["Optimisation", "Plan", "Schedule", "Watch", "next_token_loss", "train", "train_run"]
