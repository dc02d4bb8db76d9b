"""scikit-optimize's own tests on the door that has its names: which pass, and why the others do not.

::

    python benchmarks/skopt_tests.py path/to/scikit-optimize > benchmarks/results/skopt_tests.md

The tests are copied to a temporary folder, in which ``skopt`` stands for ``believer.integrations.skopt``. A file that
takes longer than ``LIMIT`` seconds is left, and its last tests are listed as not run. Those of a file that cannot be
collected are counted as scikit-optimize itself collects them, which has to be installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

LIMIT = float(os.environ.get("LIMIT", "900"))

DOOR = """
import importlib, importlib.abc, importlib.util, sys


class Door(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "skopt":
            return None
        try:
            found = importlib.util.find_spec("believer.integrations." + name)
        except ModuleNotFoundError:
            return None
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return importlib.util.spec_from_loader(name, self, is_package=is_package)

    def create_module(self, spec):
        return importlib.import_module("believer.integrations." + spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Door())
import believer.integrations.skopt.space.space as there

there._check_dimension = there.check_dimension  # a private name, so that the file can be collected
"""

REASONS = [
    (r"test_plots|test_transformers|test_sampler", "imports private functions, or classes of single transformers"),
    (r"EIps|PIps|with_time", "EIps and PIps, which weigh time, are not there"),
    (r"MES|PVRS|mes_gp", "MES and PVRS are not there"),
    (r"test_acquisition", "gradients (return_grad), acquisitions per second, sizes of scikit-optimize's own GP"),
    (r"test_space", "transforms, distances and constants of single dimensions, Space by name, from files; exact texts"),
    (r"test_normalize_dimensions|all_categorical|has_gradients", "transforms of single dimensions, is_categorical"),
    (r"dump_and_load", "files are journals with a path, not pickles in an open file, and hold results"),
    (r"test_callbacks", "the private state of a stopper or a model"),
    (r"tree_based", "a bound on the best of few calls, which these seeds miss"),
    (r"repeated_x", "the warning of a repeated point: here no point is repeated"),
    (r"rank", "a column of cv_results_ that scikit-learn has not"),
    (r"test_gp_opt", "private attributes of scikit-optimize's own GP"),
    (r"test_optimizer|dimension|names|invalid|wrong", "the exact text of an error, or a private attribute"),
]


def main(source: Path) -> None:
    """Print the table and the list."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        shutil.copytree(source / "skopt" / "tests", here / "tests", ignore=shutil.ignore_patterns("__init__.py"))
        (here / "conftest.py").write_text(DOOR)
        (here / "pytest.ini").write_text("[pytest]\nmarkers =\n    fast_test\n    slow_test\n    hps\n")
        found = {path.stem: run(here, path) for path in sorted((here / "tests").glob("test_*.py"))}
    print("# scikit-optimize's own tests on the door\n")
    commit = subprocess.check_output(["git", "-C", str(source), "log", "-1", "--format=%h, %s"], text=True).strip()
    print("By benchmarks/skopt_tests.py, in one run, on the tests of scikit-optimize's repository at commit")
    print(f"{commit}; skipped ones do not count.\n")
    print("| file | passed | of |\n|---|---|---|")
    passed = of = 0
    for name, results in found.items():
        good = sum(result == "PASSED" for result in results.values())
        print(f"| {name} | {good} | {len(results)} |")
        passed, of = passed + good, of + len(results)
    print(f"| all | {passed} | {of} |\n\n{100 * passed / of:.0f} % pass.\n\n| not passed | | why |\n|---|---|---|")
    for name, results in found.items():
        for test, result in results.items():
            if result != "PASSED":
                why = next((why for rule, why in REASONS if re.search(rule, f"{name}::{test}")), "-")
                print(f"| `{name}::{test}` | {result.lower()} | {'took too long' if result == 'NOT RUN' else why} |")


def run(folder: Path, path: Path) -> dict[str, str]:
    """The result of each test of a file by name."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--tb=no", f"tests/{path.name}"]
    if not (names := listed(folder, command[-1])):
        return dict.fromkeys(listed(folder, command[-1], "--noconftest"), "NOT COLLECTED")
    log = folder / f"{path.stem}.log"
    with log.open("w") as file, suppress(subprocess.TimeoutExpired):
        subprocess.run(command, cwd=folder, stdout=file, stderr=file, timeout=LIMIT, check=False)
    result = "(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
    said = dict(re.findall(rf"^tests/\S+?::(.*?) {result}", log.read_text(), re.MULTILINE))
    print(f"{path.stem}: {len(said)} of {len(names)}", file=sys.stderr, flush=True)
    return {name: said.get(name, "NOT RUN") for name in names if said.get(name) not in ("SKIPPED", "XFAIL")}


def listed(folder: Path, name: str, *options: str) -> list[str]:
    """The names of the tests of a file."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--co", *options, name]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout
    return re.findall(r"^tests/\S+?::(.*)$", found, re.MULTILINE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
