"""Process trees on every system, and the Windows side of them on any: its source against a stand-in for its API.

Structures and constants are compared with the documentation of the Windows API: winnt.h on x64.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from each import each
from test_workers import posix_only
from waiting import alive, wait_for

import believer as bv
from believer import program, trees
from believer.errors import TookTooLong

OFFSETS = {
    "process_time": 0,  # PerProcessUserTimeLimit
    "job_time": 8,  # PerJobUserTimeLimit
    "flags": 16,  # LimitFlags
    "least_working_set": 24,  # MinimumWorkingSetSize
    "most_working_set": 32,  # MaximumWorkingSetSize
    "processes": 40,  # ActiveProcessLimit
    "affinity": 48,  # Affinity
    "priority": 56,  # PriorityClass
    "scheduling": 60,  # SchedulingClass
    "transfers": 64,  # IoInfo, six ULONGLONG
    "memory": 112,  # ProcessMemoryLimit, JobMemoryLimit, PeakProcessMemoryUsed, PeakJobMemoryUsed
}
JOB, PROCESS = 11, 22


class Kernel:
    """kernel32: what was called, and the processes that a job ends."""

    def __init__(self, opens: bool = True) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.flags: list[int] = []
        for name, answer in {
            "CreateJobObjectW": JOB,
            "SetInformationJobObject": 1,
            "OpenProcess": PROCESS if opens else 0,
            "AssignProcessToJobObject": 1,
            "TerminateJobObject": 1,
            "CloseHandle": 1,
        }.items():
            setattr(self, name, self._function(name, answer))

    def _function(self, name: str, answer: int) -> Any:
        class Function:
            restype: Any = None
            argtypes: Any = ()

            def __call__(function, *given: Any) -> int:  # noqa: N805
                assert len(given) == len(function.argtypes)
                if name == "SetInformationJobObject":
                    assert given[3] == ctypes.sizeof(given[2]._obj)
                    self.flags.append(given[2]._obj.flags)
                    given = given[:2]
                self.calls.append((name, *given))
                return answer

        return Function()


def on_windows(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(ctypes, "WinDLL", lambda name, use_last_error: {"kernel32": kernel}[name], raising=False)
    spec = importlib.util.spec_from_file_location("trees_on_windows", str(trees.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as here:
        here.setattr(sys, "platform", "win32")
        spec.loader.exec_module(module)
    return module


def test_the_limits_of_a_job_are_laid_out_as_windows_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        pytest.skip("the offsets are those of x64")
    limits: Any = on_windows(Kernel(), monkeypatch)._Limits
    assert {name: getattr(limits, name).offset for name, _ in limits._fields_} == OFFSETS
    assert ctypes.sizeof(limits) == 144


def test_a_process_is_put_in_a_job_that_ends_with_its_handle(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel()
    tree = on_windows(kernel, monkeypatch).Tree("mark")
    assert kernel.flags == [0x2000]  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
    tree.begin(7)
    assert kernel.calls == [
        ("CreateJobObjectW", None, None),
        ("SetInformationJobObject", JOB, 9),  # JobObjectExtendedLimitInformation
        ("OpenProcess", 0x0101, False, 7),  # PROCESS_SET_QUOTA | PROCESS_TERMINATE
        ("AssignProcessToJobObject", JOB, PROCESS),
        ("CloseHandle", PROCESS),
    ]
    del kernel.calls[:]
    tree.kill()
    tree.kill_rest()
    tree.close()
    tree.close()
    tree.kill()
    assert kernel.calls == [("TerminateJobObject", JOB, 1)] * 2 + [("CloseHandle", JOB)]


def test_a_process_that_is_gone_already_is_in_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(opens=False)
    tree = on_windows(kernel, monkeypatch).Tree("mark")
    tree.begin(7)
    tree.close()
    assert [name for name, *_ in kernel.calls][-2:] == ["OpenProcess", "CloseHandle"]
    assert kernel.calls[-1] == ("CloseHandle", JOB)


CHILD = "import time; time.sleep(6000)"
PARENT = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}])
with open("pids.new", "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
os.replace("pids.new", "pids")
time.sleep(6000)
"""
"""A program that starts another and hangs, on any system."""


def pids_in(folder: Path) -> list[int]:
    wait_for((folder / "pids").exists)
    pids = [int(pid) for pid in (folder / "pids").read_text().split()]
    assert len(pids) == 2
    return pids


def command(code: str) -> list[str]:
    return [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")]


def test_on_every_system_a_program_that_takes_too_long_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    with pytest.raises(TookTooLong):
        bv.Program(command(PARENT), folder=tmp_path, timeout=5.0)({})
    pids = pids_in(tmp_path / "000001")
    wait_for(lambda: not any(map(alive, pids)))


def test_on_every_system_a_program_ends_with_the_process_that_runs_it(tmp_path: Path) -> None:
    script = f"import believer as bv; bv.Program({command(PARENT)!r}, folder={str(tmp_path)!r})({{}})"
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        pids = pids_in(tmp_path / "000001")
        assert all(map(alive, pids))
        process.kill()
    wait_for(lambda: not any(map(alive, pids)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the environment of other processes")
def test_a_program_ends_although_the_process_that_runs_it_dies_as_soon_as_it_has_started(tmp_path: Path) -> None:
    script = f"""
        import os, signal, subprocess
        import believer as bv
        class Last(subprocess.Popen):
            def __init__(self, command, **options):
                super().__init__(command, **options)
                if "cwd" in options:
                    os.kill(os.getpid(), signal.SIGKILL)
        subprocess.Popen = Last
        bv.Program({command(PARENT)!r}, folder={str(tmp_path)!r})({{}})
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False).returncode == -signal.SIGKILL
    pids = pids_in(tmp_path / "000001")
    wait_for(lambda: not any(map(alive, pids)))


@posix_only
def test_a_program_ends_although_the_children_of_the_dead_process_were_killed_first(tmp_path: Path) -> None:
    script = f"import believer as bv; bv.Program({command(PARENT)!r}, folder={str(tmp_path)!r})({{}})"
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        pids = pids_in(tmp_path / "000001")
        process.send_signal(signal.SIGSTOP)
        for child in trees._children()[process.pid]:  # as Ray does where a worker of its ends
            os.kill(child, signal.SIGKILL)
        process.kill()
    wait_for(lambda: not any(map(alive, pids)))


class Sleeper:
    """A process that ends after some waits, each of which lasts as long as it may."""

    def __init__(self, waits: int) -> None:
        self.waits, self.clock, self.asked = waits, 0.0, list[float]()

    def wait(self, timeout: float) -> int:
        self.asked.append(timeout)
        if len(self.asked) < self.waits:
            self.clock += timeout
            raise subprocess.TimeoutExpired("sleeper", timeout)
        return 3


@each("timeout", [None, 60.0, 1.2])
def test_a_wait_on_windows_is_one_of_many_that_are_short(
    timeout: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper: Any = Sleeper(7)
    monkeypatch.setattr(program, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(program, "time", SimpleNamespace(monotonic=lambda: sleeper.clock))
    if timeout == 1.2:
        with pytest.raises(subprocess.TimeoutExpired):
            program._ended(sleeper, timeout)
        assert sum(sleeper.asked) == pytest.approx(1.2)
    else:
        assert program._ended(sleeper, timeout) == 3
        assert len(sleeper.asked) == 7
    assert max(sleeper.asked) <= 0.5


@each("above", ["", "a1", "a1:b2"])
def test_a_mark_begins_with_that_of_the_process_above(above: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "os", SimpleNamespace(environ={trees.MARK: above} if above else {}))
    one, other = trees.new_mark(), trees.new_mark()
    assert one != other
    assert all(mark.split(":")[:-1] == [*filter(None, above.split(":"))] for mark in (one, other))
