"""The weights that come with the package are those of the recipe in the code, whole, and not too large."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from interp.suites import suite
from interp.suites.catalogue import SHIPPED as FOLDER
from interp.training import log
from interp.training.manifest import read_manifest
from interp.training.nano.recipe import SIZES
from interp.training.nano.shipped import SHIPPED
from interp.training.nano.tokenizer import build_tokenizer
from interp.training.nano.vocabulary import lexicon, vocabulary
from interp.training.thin import kept_steps

NAMES = sorted(SHIPPED)
LARGEST = 39_000_000  # bytes, all shipped suites together


@pytest.mark.parametrize("name", NAMES)
def test_recipe_and_tokenizer_are_those_of_the_code(name: str):
    manifest = read_manifest(FOLDER / name)
    assert manifest.recipe == json.loads(json.dumps(asdict(SIZES[name])))
    text = build_tokenizer(vocabulary(lexicon())).to_str(pretty=True)
    assert manifest.tokenizer == hashlib.sha256(text.encode()).hexdigest()
    assert (FOLDER / name / "tokenizer.json").read_text() == text


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_steps_are_those_of_the_rule(name: str):
    manifest, found = read_manifest(FOLDER / name), suite(name)
    assert found.seeds == SHIPPED[name].seeds == tuple(manifest.seeds)
    for run in found.runs:
        rows = log.read(FOLDER / name / f"seed{run.seed}")
        why = kept_steps(rows, SIZES[name].saved, SHIPPED[name].rule)
        assert run.steps == tuple(why) == manifest.seeds[run.seed].steps
        assert manifest.seeds[run.seed].why == why
        assert len(run.steps) >= 16


@pytest.mark.parametrize("name", NAMES)
def test_checkpoints_are_whole_and_distinct(name: str):
    for run in suite(name).runs:
        assert len({run.at(step).weights for step in run.steps}) == len(run.steps)
        model = AutoModelForCausalLM.from_pretrained(run.folders[run.steps[-1]])
        with torch.no_grad():
            assert torch.isfinite(model(torch.tensor([[0, 19, 69, 31, 70]])).logits).all()


def test_all_of_it_is_small_enough():
    files = [path for path in Path(FOLDER).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LARGEST
