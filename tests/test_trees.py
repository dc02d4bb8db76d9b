"""The Windows side of process trees, on any system: its source against a stand-in for the Windows API.

Structures and constants are compared with the documentation of the Windows API: winnt.h on x64.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from each import each

from believer import trees

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
    tree = on_windows(kernel, monkeypatch).Tree(7, "mark")
    assert kernel.flags == [0x2000]  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
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
    on_windows(kernel, monkeypatch).Tree(7, "mark").close()
    assert [name for name, *_ in kernel.calls][-2:] == ["OpenProcess", "CloseHandle"]
    assert kernel.calls[-1] == ("CloseHandle", JOB)


@each("above", ["", "a1", "a1:b2"])
def test_a_mark_begins_with_that_of_the_process_above(above: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "os", SimpleNamespace(environ={trees.MARK: above} if above else {}))
    one, other = trees.new_mark(), trees.new_mark()
    assert one != other
    assert all(mark.split(":")[:-1] == [*filter(None, above.split(":"))] for mark in (one, other))
