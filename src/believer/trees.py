"""The tree of a process: the process and all its descendants, which end together.

On POSIX the process leads a group of its own, which holds its descendants unless they leave it. Those that have left it
are found by their parents. On Linux they are also found by a mark in the environment that they were started with, even
when their parents are gone. A shell waits beside the process, and ends all of them when this process is gone. On
Windows the process is put in a job object, which the system ends when this process is gone.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from contextlib import suppress

MARK = "BELIEVER_TREE"
"""The name of the mark in the environment."""


def new_mark() -> str:
    """The mark for a process that is about to start: the mark of this process, if it has one, followed by a new
    part."""
    return ":".join([*filter(None, [os.environ.get(MARK)]), secrets.token_hex(8)])


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _KILL_ON_JOB_CLOSE, _EXTENDED_LIMITS = 0x2000, 9
    _SET_QUOTA_AND_TERMINATE = 0x0101
    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    for _function, _returned, _taken in (
        (_kernel.CreateJobObjectW, wintypes.HANDLE, (wintypes.LPVOID, wintypes.LPCWSTR)),
        (
            _kernel.SetInformationJobObject,
            wintypes.BOOL,
            (wintypes.HANDLE, ctypes.c_int, wintypes.LPVOID, wintypes.DWORD),
        ),
        (_kernel.OpenProcess, wintypes.HANDLE, (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)),
        (_kernel.AssignProcessToJobObject, wintypes.BOOL, (wintypes.HANDLE, wintypes.HANDLE)),
        (_kernel.TerminateJobObject, wintypes.BOOL, (wintypes.HANDLE, wintypes.UINT)),
        (_kernel.CloseHandle, wintypes.BOOL, (wintypes.HANDLE,)),
    ):
        _function.restype, _function.argtypes = _returned, _taken

    class _Limits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION of the Windows API."""

        _fields_ = (
            ("process_time", ctypes.c_int64),
            ("job_time", ctypes.c_int64),
            ("flags", ctypes.c_uint32),
            ("least_working_set", ctypes.c_size_t),
            ("most_working_set", ctypes.c_size_t),
            ("processes", ctypes.c_uint32),
            ("affinity", ctypes.c_size_t),
            ("priority", ctypes.c_uint32),
            ("scheduling", ctypes.c_uint32),
            ("transfers", ctypes.c_uint64 * 6),
            ("memory", ctypes.c_size_t * 4),
        )

    class Tree:
        """The tree of a process that is about to start.

        Parameters
        ----------
        mark : not used here, because the job needs none.
        """

        def __init__(self, mark: str) -> None:
            self._job = _kernel.CreateJobObjectW(None, None)
            limits = _Limits(flags=_KILL_ON_JOB_CLOSE)
            _kernel.SetInformationJobObject(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))

        def begin(self, pid: int) -> None:
            """Put the process, which has just started, into the job.

            Parameters
            ----------
            pid : the id of the process.
            """
            process = _kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid)
            if process:
                _kernel.AssignProcessToJobObject(self._job, process)
                _kernel.CloseHandle(process)

        def kill(self) -> None:
            """End the whole tree now."""
            if self._job:
                _kernel.TerminateJobObject(self._job, 1)

        def kill_rest(self) -> None:
            """End the processes that are left after the first process of the tree has ended."""
            self.kill()

        def close(self) -> None:
            """Stop watching the tree; the processes that are left end."""
            if self._job:
                _kernel.CloseHandle(self._job)
                self._job = None

    def lead() -> None:
        """Do nothing, because the parent has put this process in a job."""

    def end_here() -> None:
        """End this process; its job goes with the process that made it."""
        os._exit(1)

else:
    import signal

    _GUARD = """
    exec 3<&0
    {
        read -r pid
        read -r line && exit
        sleep 5
        [ -n "$pid" ] && kill -s KILL -- "-$pid"
        for file in $(grep -lsF -- "$1" /proc/[0-9]*/environ); do
            file=${file#/proc/}
            kill -s KILL -- "${file%/environ}"
        done
    } <&3 &
    wait
    """
    """The script that ends a tree when its input is closed before a second line, which happens when this process ends
    in whatever way.

    The first line is the id of the process. The script starts before the process, because this process could otherwise
    be killed between the two starts; if no id has arrived, the processes of the tree are found by their mark. The
    script waits some seconds before it ends the tree, because a process that notices the end of this one can end more:
    descendants that left the group. It waits in a child of the shell, because a host may kill the children of a process
    that ends, as Ray does.
    """

    class Tree:
        """The tree of a process that is about to start and to lead a group of its own.

        Parameters
        ----------
        mark : the value of :data:`MARK` in its environment, from :func:`new_mark`.
        """

        def __init__(self, mark: str) -> None:
            self._pid, self._mark = 0, mark
            self._guard: subprocess.Popen[bytes] | None = None
            with suppress(OSError):  # without a shell, a process that has died leaves its group
                self._guard = subprocess.Popen(
                    ["/bin/sh", "-c", _GUARD, "guard", f"{MARK}={mark}"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )

        def begin(self, pid: int) -> None:
            """Watch over the process, which has just started.

            Parameters
            ----------
            pid : the id of the process.
            """
            self._pid = pid
            self._say(f"{pid}\n")

        def kill(self) -> None:
            """End the whole tree now. The process must not have been waited for, because its id could then belong to
            another one."""
            _kill(_stopped([self._pid], self._mark))

        def kill_rest(self) -> None:
            """End what is left of a process that has just ended: its group, and all processes with its mark."""
            with suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
            _kill(_stopped([], self._mark))

        def close(self) -> None:
            """Stop watching the tree."""
            self._say("over\n" if self._pid else "\nover\n")
            guard, self._guard = self._guard, None
            if guard is not None:
                guard.communicate()

        def _say(self, text: str) -> None:
            if self._guard is not None and self._guard.stdin is not None:
                with suppress(OSError):  # the guard was ended by something else
                    self._guard.stdin.write(text.encode())
                    self._guard.stdin.flush()

    def lead() -> None:
        """Make this process the leader of a group of its own."""
        with suppress(OSError):  # it leads a session
            os.setpgid(0, 0)

    def end_here() -> None:
        """End this process, which leads a group, and all its descendants."""
        _kill(_stopped([os.getpid()], os.environ.get(MARK, "")))
        os.killpg(0, signal.SIGKILL)

    def _stopped(roots: list[int], mark: str) -> list[int]:
        """Stop the given processes, those with the mark, and all descendants, so that they start no more; return them,
        without this process."""
        found: list[int] = []
        fresh = [*roots, *_marked(mark)]
        while fresh:
            for pid in fresh:
                if pid != os.getpid():
                    with suppress(OSError):
                        os.kill(pid, signal.SIGSTOP)
            found += fresh
            children = _children()
            kin = [child for pid in found for child in children.get(pid, ())]
            fresh = [pid for pid in dict.fromkeys([*kin, *_marked(mark)]) if pid not in found]
        return [pid for pid in found if pid != os.getpid()]

    def _kill(pids: list[int]) -> None:
        for pid in pids:
            _send(pid, signal.SIGKILL)

    def _marked(mark: str) -> list[int]:
        """Processes that were started with the mark, or by a process with the mark; none if the system does not
        tell."""
        found, entry = [], f"\0{MARK}={mark}".encode()
        with suppress(OSError):
            for name in filter(str.isdigit, os.listdir("/proc") if mark else ()):
                with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                    if entry in b"\0" + file.read():
                        found.append(int(name))
        return found

    def _send(pid: int, number: signal.Signals) -> None:
        """Send a signal to a process and to the group that it leads, if any."""
        for send in (os.killpg, os.kill):
            with suppress(OSError):
                send(pid, number)

    def _children() -> dict[int, list[int]]:
        """The children of every process that can be seen."""
        children: dict[int, list[int]] = {}
        for pid, parent in _from_files() or _from_ps():
            children.setdefault(parent, []).append(pid)
        return children

    def _from_files() -> list[tuple[int, int]]:
        """Each process and its parent, from the files under /proc."""
        found = []
        with suppress(OSError):
            for name in filter(str.isdigit, os.listdir("/proc")):
                with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                    found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
        return found

    def _from_ps() -> list[tuple[int, int]]:
        """Each process and its parent, from ``ps``, for systems without /proc."""
        with suppress(OSError, ValueError, subprocess.SubprocessError):
            listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True, timeout=10.0)
            pairs = [line.split() for line in listed.stdout.splitlines()]
            return [(int(pid), int(parent)) for pid, parent in pairs]
        return []
