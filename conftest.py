"""Tests marked ``both_backends`` run twice: with the Python twin, and with the compiled module. A run ends with the
seconds that each folder of tests took."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import PurePosixPath

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from believer.numerics import backend

# The same examples on every machine, none too slow for it. `make test-slow` looks for new and more of them, with the
# other profile.
hypothesis.settings.register_profile(
    "explore", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.register_profile(
    "repeat", hypothesis.settings.get_profile("explore"), derandomize=True, max_examples=50
)
hypothesis.settings.load_profile("repeat")
# It also tries numbers from the source of whatever is loaded by then, which differs from worker to worker.
if hasattr(providers, "_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants

BACKENDS = ("python", "native")
BUILT = find_spec("believer._native") is not None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "both_backends(*beginnings): run with the Python twin and with the compiled module. With beginnings, ids that "
        "start otherwise run once: they compute nothing that is compiled, or what others compute too.",
    )
    config.addinivalue_line(
        "markers", "slow(reason): waits for servers, builds or emulators; `make test-slow` runs it."
    )


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("both_backends") is not None:
        metafunc.parametrize("computed_by", BACKENDS, indirect=True)


@pytest.fixture(autouse=True)
def computed_by(request: pytest.FixtureRequest) -> Iterator[None]:
    """The twin that a test runs with: the default one unless it is marked."""
    name = getattr(request, "param", None)
    if name is None:
        yield
    elif name == "native" and not BUILT:
        pytest.skip("believer._native is not built here: there is only the Python twin")
    else:
        with backend.using(name):
            yield


def pytest_collection_finish() -> None:
    """Leave what was collected, and all that it imported, out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if not _is_second_of_one(item)]


def _is_second_of_one(item: pytest.Item) -> bool:
    """Whether the item is the other run of what is to run once."""
    mark = item.get_closest_marker("both_backends")
    if mark is None or not mark.args or not isinstance(item, pytest.Function):
        return False
    return item.callspec.params["computed_by"] != backend.name() and not item.callspec.id.startswith(mark.args)


def _room(nodeid: str) -> str:
    """The folder of tests that an item belongs to: ``tests/batch``, or ``tests`` for a file of none."""
    folders = PurePosixPath(nodeid.partition("::")[0]).parent.parts
    return "/".join(folders[: folders.index("tests") + 2]) if "tests" in folders else "/".join(folders)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long each folder took, summed over the processes of a parallel run: its reports come back to this one."""
    seconds: defaultdict[str, float] = defaultdict(float)
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[_room(report.nodeid)] += report.duration
                tests[_room(report.nodeid)] += report.when == "call"
    if not seconds:
        return
    terminalreporter.section("seconds by folder, of all processes together")
    for room in sorted(seconds, key=seconds.__getitem__, reverse=True):
        terminalreporter.line(f"{seconds[room]:8.1f}  {room} ({tests[room]} tests)")
    terminalreporter.line(f"{sum(seconds.values()):8.1f}  together ({tests.total()} tests)")
