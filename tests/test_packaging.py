"""What the three distributions say of themselves, beside what is built and what was tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from believer._version import __version__

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT, ROOT / "bench", ROOT / "paper")
LIBRARY, BENCH, PAPER = (tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")) for folder in FOLDERS)
WORKFLOWS = ROOT / ".github" / "workflows"
MAKEFILE = ROOT / "Makefile"
TESTED = (ROOT / "benchmarks" / "results" / "wheels.md").read_text(encoding="utf-8")
every = pytest.mark.parametrize(
    "project", [one["project"] for one in (LIBRARY, BENCH, PAPER)], ids=lambda one: one["name"]
)


def pythons(project: dict[str, Any]) -> list[str]:
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def read(path: Path) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture
def workflow() -> Any:
    return read(WORKFLOWS / "wheels.yml")


@every
def test_the_pythons_of_the_classifiers_begin_where_the_requirement_does_and_leave_none_out(
    project: dict[str, Any],
) -> None:
    versions = pythons(project)
    assert project["requires-python"] == f">={versions[0]}"
    minors = [int(version.partition(".")[2]) for version in versions]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert versions == pythons(LIBRARY["project"])


def test_wheels_are_built_for_the_pythons_of_the_classifiers_and_were_tested_on_each() -> None:
    versions = pythons(LIBRARY["project"])
    assert LIBRARY["tool"]["cibuildwheel"]["build"] == [f"cp{version.replace('.', '')}-*" for version in versions]
    for version in versions:
        rows = re.findall(rf"^\| {re.escape(version)}\b.*$", TESTED, flags=re.MULTILINE)
        assert rows, f"Python {version} is claimed; run tests/wheels.py on it"
        assert all(re.search(r"\| native \|.* \d+ passed", row) and "failed" not in row for row in rows), rows


@every
def test_no_system_is_claimed_but_the_one_that_was_tested(project: dict[str, Any]) -> None:
    systems = [line for line in project["classifiers"] if line.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]


@every
def test_the_distributions_have_one_version_one_license_and_one_address(project: dict[str, Any]) -> None:
    assert project["version"] == __version__
    assert len({(folder / "LICENSE").read_bytes() for folder in FOLDERS}) == 1
    assert project["urls"] == LIBRARY["project"]["urls"]
    assert {"Homepage", "Documentation", "Source", "Changelog", "Issues"} == project["urls"].keys()
    assert all(address.startswith(project["urls"]["Homepage"]) for address in project["urls"].values())


def test_the_files_that_the_tests_of_a_wheel_name_exist() -> None:
    settings = LIBRARY["tool"]["cibuildwheel"]
    named = re.findall(r"tests/\S+", " ".join(settings["test-command"])) + settings["test-sources"]
    assert all((ROOT / name).exists() for name in named), named


def test_the_tables_of_the_suite_are_in_the_wheel() -> None:
    package = ROOT / "bench" / "src" / "believer_bench"
    tables = set((package / "problems" / "tables").iterdir())
    patterns = BENCH["tool"]["setuptools"]["package-data"]["believer_bench"]
    assert tables
    assert tables <= {path for pattern in patterns for path in package.glob(pattern)}


def test_the_extra_that_the_library_names_is_the_distribution_beside_it() -> None:
    assert LIBRARY["project"]["optional-dependencies"]["bench"] == [BENCH["project"]["name"]]
    assert BENCH["project"]["name"] in PAPER["project"]["dependencies"]


def test_every_peer_names_an_extra_of_the_bench() -> None:
    peers = pytest.importorskip("believer_bench.peers").PEERS
    extras = BENCH["project"]["optional-dependencies"]
    assert {peer.extra for peer in peers.values()} == extras.keys() - {"peers"}


def test_only_a_tag_publishes_and_only_that_job_may_write(workflow: Any) -> None:
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "wheels": {"contents": "read"},
        "sdist": {"contents": "read"},
        "publish": {"id-token": "write"},
    }
    assert "startsWith(github.ref, 'refs/tags/v')" in jobs["publish"]["if"]
    assert jobs["publish"]["environment"] == "pypi"
    assert set(jobs["publish"]["needs"]) == {"wheels", "sdist"}


def test_every_action_is_pinned_to_a_commit() -> None:
    for path in WORKFLOWS.iterdir():
        used = [step["uses"] for job in read(path)["jobs"].values() for step in job["steps"] if "uses" in step]
        assert used
        assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) for action in used), (path.name, used)


def test_one_job_runs_the_tests_another_the_slow_ones_and_a_third_builds_the_site() -> None:
    tests = read(WORKFLOWS / "tests.yml")
    assert tests["permissions"] == {}
    assert {name: job["steps"][-1]["run"] for name, job in tests["jobs"].items()} == {
        "test": "make test",
        "slow": "make test-slow",
        "docs": "make docs",
    }
    assert all(job["permissions"] == {"contents": "read"} for job in tests["jobs"].values())
    recipes = dict(
        re.findall(r"^([\w-]+):[^\n]*\n((?:\t[^\n]*\n)+)", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert "-m 'not slow'" in recipes["test"]
    assert "not slow" not in recipes["test-slow"]


def test_the_citation_names_the_version() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == __version__
    assert citation["license"] == LIBRARY["project"]["license"]
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_wheels_are_made_for_three_systems(workflow: Any) -> None:
    built = {(job["system"], job["arch"]) for job in workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]}
    linux, macos = {("linux", "x86_64"), ("linux", "aarch64")}, {("macos", "x86_64"), ("macos", "arm64")}
    assert built == linux | macos | {("windows", "AMD64")}
