"""The wheel, installed in an environment of its own, finds its tasks and its suites."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def interp(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console script of an environment that holds the wheel, and this one's packages but for our own."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    own = next(folder.glob("lib/python*/site-packages"))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    # a path named in a .pth is searched, but its own .pth files (our editable install's) are not read
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "interp"


def run(command: list[str | Path], folder: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_claims_one_import_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"interp"}


def test_tasks_and_suites_are_found_away_from_the_source(interp: Path, tmp_path: Path) -> None:
    where = run([interp.parent / "python", "-c", "import interp; print(interp.__file__)"], tmp_path)
    assert where.startswith(str(interp.parents[1]))
    names = {row["name"] for row in json.loads(run([interp, "tasks", "--json"], tmp_path))}
    assert {"string", "named_item", "pattern", "counting", "ioi"} <= names
    suites = {row["name"]: row["where"] for row in json.loads(run([interp, "suites", "--json"], tmp_path))}
    assert suites["nano-3l"] == suites["nano-2l"] == "shipped"
    prompts = json.loads(run([interp, "tasks", "string:single", "--suite", "nano-3l", "--json"], tmp_path))
    assert prompts[0]["answer"].strip() == "3"


def test_the_same_files_are_found_in_the_source_tree() -> None:
    from interp.suites.catalogue import SHIPPED
    from interp.tasks import task_names

    assert SHIPPED.is_relative_to(ROOT)
    assert {path.stem for path in (ROOT / "tasks").glob("*.toml")} == set(task_names())
