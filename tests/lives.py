"""Random lives of a study under attack, sized by two numbers: how many operations, and how many kills.

A life is a process that works on a journal: it asks, tells, fails, observes, enqueues, abandons, saves, loads and
looks, alone and in threads, on a disk that is full at times, with interrupts at any line, workers that die and a clock
that jumps. After every operation it compares the file with what it has in memory. Then it is killed, at any moment,
and the next life goes on with what it left: nothing that was acknowledged may be missing, and nothing may be there that
nobody did.

    python tests/lives.py --operations 1000000 --kills 10000 --out benchmarks/results/lives.md
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import select
import signal
import tempfile
import threading
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from interrupting import Interrupt, interrupted_at

from believer import (
    Categorical,
    Float,
    Int,
    Multistart,
    Optimizer,
    Outcome,
    Seconds,
    Space,
    Trial,
    minimize,
    read_study,
    replay,
)
from believer.errors import JournalError, SpaceExhausted, TrialError
from believer.study.formats import decode_event

LONGEST = 150
"""Events after which a journal is laid aside and another begun."""

SPACES: list[Space] = [
    Space.cube(2),
    Space({"lr": Float(1e-4, 10.0, log=True), "n": Int(1, 60), "c": Categorical(["a", None, 2.5, True])}),
    Space({"s": Float(0.0, 50.0, step=0.125), "far": Float(1e6, 1e6 + 1.0)}),
]
QUICK = Multistart(starts=1, candidates=16, neighbors=2)
STRATEGIES = ("random",) * 14 + ("cl_min", "kb")


def deadly(params: dict[str, Any]) -> float:
    """Some points kill who evaluates them."""
    if params["x0"] > 0.7:
        os._exit(3)
    return float(params["x0"] + params["x1"])


class Life:
    """One process at work on the journal at ``path``; it says on ``say`` what it has done, when that has returned."""

    def __init__(self, path: Path, seed: int, say: int) -> None:
        self.path, self.say = path, say
        self.rng = random.Random(seed)
        if path.exists() and path.stat().st_size:
            self.study = Optimizer.load(path)
        else:
            self.study = Optimizer(
                self.rng.choice(SPACES),
                strategy=self.rng.choice(STRATEGIES),
                n_init=self.rng.randint(1, 4),
                seed=seed,
                maximize=self.rng.random() < 0.3,
                maximizer=QUICK,
                journal=path,
            )
        self.read, self.crc, self.lines = 0, 0, 0
        self.agree()

    def live(self) -> None:
        """Operations, one after the other, until someone kills this process or the journal is long enough."""
        while len(self.study.events) < LONGEST:
            name = self.rng.choices(list(OPERATIONS), [weight for weight, _ in OPERATIONS.values()])[0]
            OPERATIONS[name][1](self)
            self.agree()
            if self.rng.random() < 0.01:
                self.books_agree()
            os.write(self.say, json.dumps([name, self.lines, self.crc]).encode() + b"\n")

    def agree(self) -> None:
        """The lines that were added since the last look are the events in memory, and no others."""
        with self.path.open("rb") as file:
            file.seek(self.read)
            added = file.read()
        assert not added or added.endswith(b"\n"), added[-80:]
        events = self.study.events
        new = [decode_event(line.decode()) for line in added.splitlines()]
        assert list(events[self.lines :]) == new, (self.lines, len(events), len(new))
        self.read += len(added)
        self.crc, self.lines = zlib.crc32(added, self.crc), self.lines + len(new)

    def books_agree(self) -> None:
        """Whoever reads the file sees what this process sees."""
        seen, study = read_study(self.path), self.study
        assert seen.records() == study.records()
        assert (seen.counts, seen.best, seen.queued) == (study.counts, study.best, study.queued)
        assert (seen.pending, seen.trials, seen.outcomes) == (study.pending, study.trials, study.outcomes)
        assert seen.hyperparameters == study.hyperparameters

    # -------------------------------------------------------------------------------------------------- operations

    def point(self) -> dict[str, Any]:
        [params] = self.study.space.decode([[self.rng.random() for _ in range(self.study.space.dim)]])
        return params

    def value(self) -> float | Outcome:
        odd = [0.0, -0.0, 1e-9, 1e12, -1e99, float("nan"), float("inf"), 5e-324]
        return self.rng.gauss(0.0, 1.0) if self.rng.random() < 0.9 else self.rng.choice(odd)

    def open_trial(self) -> Trial | None:
        return self.rng.choice(self.study.pending) if self.study.pending else None

    def ask(self) -> None:
        before = len(self.study.trials)
        q = self.rng.randint(1, 3)
        try:
            batch = self.study.ask(q, strategy=self.rng.choice((None, "random")))
        except SpaceExhausted:
            return
        assert [trial.id for trial in batch] == [*range(before, before + q)]

    def tell(self) -> None:
        trial = self.open_trial()
        if trial is not None:
            value = self.value()
            self.study.tell(self.rng.choice((trial, trial.id)), value)
            row = self.study.records()[trial.id]
            assert row["status"] in ("done", "failed")
            assert row["value"] is None or row["value"] == value

    def tell_elsewhere(self) -> None:
        """A result that was obtained with other parameters than were suggested, on no step and out of bounds."""
        trial = self.open_trial()
        if trial is not None:
            moved = {
                n: v * self.rng.uniform(0.9, 1.1) for n, v in trial.params.items() if n != "c" and type(v) is float
            }
            self.study.tell(trial, self.value(), params=moved)
            assert {n: self.study.trials[trial.id].params[n] for n in moved} == moved

    def tell_many(self) -> None:
        trials = self.study.pending[:3]
        self.study.tell_many(trials, [self.value() for _ in trials])
        assert not {trial.id for trial in trials} & {trial.id for trial in self.study.pending}

    def tell_twice(self) -> None:
        done = list(self.study.outcomes)
        if done:
            with suppress(TrialError):
                self.study.tell(self.rng.choice(done), 1.0)
                raise AssertionError("a result was told twice")

    def fail(self) -> None:
        trial = self.open_trial()
        if trial is not None:
            self.study.tell(trial, error="it broke\n=1")
            assert self.study.records()[trial.id]["status"] == "failed"

    def observe(self) -> None:
        trial = self.study.observe(self.point(), self.value())
        assert self.study.trials[-1] == trial

    def enqueue(self) -> None:
        if len(self.study.queued) < 3:
            self.study.enqueue(self.point())

    def abandon(self) -> None:
        trial = self.open_trial()
        if trial is not None:
            self.study.abandon(trial)
            assert self.study.records()[trial.id]["status"] == "abandoned"

    def save(self) -> None:
        other = self.path.with_suffix(".saved")
        if self.rng.random() < 0.5:
            other.unlink(missing_ok=True)
        self.study.save(other)
        assert read_study(other).events == self.study.events

    def load(self) -> None:
        self.study.close()
        events = self.study.events
        self.study = Optimizer.load(self.path)
        assert self.study.events == events

    def look(self) -> None:
        str(self.study)
        self.study.to_csv(self.path.with_suffix(".csv"))
        self.books_agree()

    def in_threads(self) -> None:
        """Some at once; that a trial was answered by another is no error."""
        start = threading.Barrier(3)

        def work(seed: int) -> None:
            rng = random.Random(seed)
            start.wait()
            for _ in range(3):
                pending = self.study.pending
                with suppress(TrialError, SpaceExhausted):
                    if rng.random() < 0.4:
                        self.study.ask(1, strategy="random")
                    elif rng.random() < 0.8 and pending:
                        self.study.tell(rng.choice(pending), rng.random())
                    else:
                        str(self.study), self.study.records()

        with ThreadPoolExecutor(3) as pool:
            for future in [pool.submit(work, self.rng.getrandbits(32)) for _ in range(3)]:
                future.result()

    def plain_operation(self) -> Callable[[], None]:
        return self.rng.choice(
            (
                self.ask,
                self.tell,
                self.tell_elsewhere,
                self.tell_many,
                self.fail,
                self.observe,
                self.enqueue,
                self.abandon,
            )
        )

    def interrupted_at_a_line(self) -> None:
        """An exception at a random line of the package, while an operation runs."""
        interrupted_at(self.rng.randint(1, self.rng.choice((20, 100, 400, 2000))), self.plain_operation())

    def interrupted_by_a_signal(self) -> None:
        """The same by the clock, as Ctrl-C does it."""

        def interrupt(number: int, frame: object) -> None:
            raise Interrupt

        signal.signal(signal.SIGALRM, interrupt)
        operation = self.plain_operation()
        try:
            signal.setitimer(signal.ITIMER_REAL, self.rng.uniform(1e-6, 3e-3))
            operation()
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        except Interrupt:
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)

    def on_a_full_disk(self) -> None:
        """Writes end half-way, or do not reach the disk."""
        room = self.rng.randint(0, 400)
        write, fsync = os.write, os.fsync
        full = OSError(errno.ENOSPC, "No space left on device")
        synced = self.rng.random() < 0.5

        def write_some(fd: int, data: Any) -> int:
            nonlocal room
            if fd == self.say:
                return write(fd, data)
            if room == 0:
                raise full
            done = write(fd, bytes(data)[:room])
            room -= done
            return done

        def sync(fd: Any) -> None:
            if not synced:
                raise full
            fsync(fd)

        operation = self.rng.choice((self.plain_operation(), self.save, self.look))
        os.write, os.fsync = write_some, sync
        try:
            operation()
        except JournalError as error:
            if "No space left" not in str(error):
                raise
        finally:
            os.write, os.fsync = write, fsync

    def by_a_jumping_clock(self) -> None:
        """A short run by the clock, whose hands are moved to and fro."""
        moved, monotonic, now = 0.0, time.monotonic, time.time

        def jump(clock: Callable[[], float]) -> Callable[[], float]:
            def read() -> float:
                nonlocal moved
                moved += self.rng.choice((0.0, 0.0, 0.0, 5.0, -3600.0, 86400.0)) if self.rng.random() < 0.2 else 0.0
                return clock() + moved

            return read

        time.monotonic, time.time = jump(monotonic), jump(now)
        try:
            result = minimize(
                lambda p: p["x0"], Space.cube(1), 3, q=2, stop=Seconds(3.0), progress=False, strategy="random", seed=0
            )
        finally:
            time.monotonic, time.time = monotonic, now
        assert result.stopped in ("budget", "stop")
        self.plain_operation()()

    def with_workers_that_die(self) -> None:
        """A run whose points kill some of their workers: each has its answer in the end."""
        path = self.path.with_suffix(".workers")
        path.unlink(missing_ok=True)
        result = minimize(
            deadly, Space.cube(2), 8, q=2, workers=2, journal=path, progress=False, strategy="random",
            seed=self.rng.getrandbits(30), mode=self.rng.choice(("batch", "async")),
        )  # fmt: skip
        rows = read_study(path).records()
        assert result.evaluations == len(rows) == 8
        for row in rows:
            assert (row["status"] == "failed") == (row["x0"] > 0.7), row
            assert row["error"] is None or row["error"].startswith("its worker died"), row


OPERATIONS: dict[str, tuple[float, Callable[[Life], None]]] = {
    "ask": (12, Life.ask),
    "tell": (20, Life.tell),
    "tell_elsewhere": (3, Life.tell_elsewhere),
    "tell_many": (4, Life.tell_many),
    "tell_twice": (4, Life.tell_twice),
    "fail": (4, Life.fail),
    "observe": (8, Life.observe),
    "enqueue": (5, Life.enqueue),
    "abandon": (4, Life.abandon),
    "save": (1, Life.save),
    "load": (1, Life.load),
    "look": (1, Life.look),
    "in_threads": (2, Life.in_threads),
    "interrupted_at_a_line": (8, Life.interrupted_at_a_line),
    "interrupted_by_a_signal": (8, Life.interrupted_by_a_signal),
    "on_a_full_disk": (5, Life.on_a_full_disk),
    "by_a_jumping_clock": (0.5, Life.by_a_jumping_clock),
    "with_workers_that_die": (0.004, Life.with_workers_that_die),
}


class Lives:
    """Lives one after the other, and what came of them."""

    def __init__(self, folder: Path, seed: int, report: Callable[[str], None] = lambda text: None) -> None:
        self.folder, self.seed, self.report = folder, seed, report
        self.rng = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.kills = self.journals = self.replays = self.lines = self.unacknowledged = 0

    @property
    def operations(self) -> int:
        """That were acknowledged."""
        return sum(self.done.values())

    def run(self, operations: int, kills: int) -> None:
        """As many operations, with as many kills among them."""
        path, apart = self._journal(), max(1, operations // max(1, kills))
        while self.operations < operations or self.kills < kills:
            left = self.rng.randint(1, 2 * apart - 1) if self.kills < kills else 10**9
            if self._life(path, min(left, max(1, operations + 2 * apart - self.operations))):
                self._finish(path)
                path = self._journal()
        self._finish(path)

    def _journal(self) -> Path:
        self.journals += 1
        return self.folder / f"{self.journals}.jsonl"

    def _life(self, path: Path, operations: int) -> bool:
        """One life, killed after so many operations; whether its journal was long enough before."""
        seed = self.rng.getrandbits(48)
        hear, say = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(hear)
                signal.signal(signal.SIGALRM, signal.SIG_IGN)
                Life(path, seed, say).live()
                status = 0
            except BaseException:
                os.write(say, json.dumps(["error", traceback.format_exc()]).encode() + b"\n")
            finally:
                os._exit(status)
        os.close(say)
        acknowledged, killed, heard = (0, 0), False, b""
        with open(hear, "rb", buffering=0) as pipe:
            while True:
                if not select.select([pipe], [], [], 600.0)[0]:
                    os.kill(child, signal.SIGABRT)
                    raise AssertionError(f"seed {self.seed}, life {seed}, {path.name}: nothing was heard of it")
                said = pipe.read(2**16)
                if not said:
                    break
                *lines, heard = (heard + said).split(b"\n")
                for line in lines:
                    name, *rest = json.loads(line)
                    if name == "error":
                        raise AssertionError(f"seed {self.seed}, life {seed}, {path.name}:\n{rest[0]}")
                    self.done[name] += 1
                    acknowledged = rest[0], rest[1]
                    operations -= 1
                if operations <= 0 and not killed:
                    time.sleep(self.rng.uniform(0.0, 0.004))
                    os.kill(child, signal.SIGKILL)
                    killed = True
        _, status = os.waitpid(child, 0)
        assert killed or status == 0, f"seed {self.seed}, life {seed}: ended with status {status}"
        self.kills += os.WIFSIGNALED(status)
        self._check(path, seed, *acknowledged)
        return status == 0

    def _check(self, path: Path, seed: int, lines: int, crc: int) -> None:
        """What was acknowledged is there, to the bit; what follows makes sense, and was begun by the same life."""
        whole = path.read_bytes() if path.exists() else b""
        finished = whole[: whole.rfind(b"\n") + 1].splitlines(keepends=True)
        where = f"seed {self.seed}, life {seed}, {path.name}"
        assert len(finished) >= lines, where
        if lines:
            assert zlib.crc32(b"".join(finished[:lines])) == crc, where
            assert len(finished) - lines <= 10, where
            self.unacknowledged += len(finished) - lines
        if finished:
            read_study(path)

    def _finish(self, path: Path) -> None:
        """A journal that is done can be loaded, and asked again from its seed."""
        if path.exists() and b"\n" in path.read_bytes():
            with Optimizer.load(path) as study:
                self.lines += len(study.events)
            if self.journals % 5 == 0:
                again = replay(path)
                assert again.identical, f"seed {self.seed}, {path.name}: {again}"
                self.replays += 1
        for file in self.folder.glob(f"{path.stem}.*"):
            file.unlink()
        self.report(f"{self.operations} operations, {self.kills} kills, {self.journals} journals")

    def summary(self, seconds: float) -> str:
        """What was done, as a page."""
        rows = "\n".join(f"| {name.replace('_', ' ')} | {self.done[name]:,} |" for name in OPERATIONS)
        return f"""# Random lives of a study under attack

Written by `tests/lives.py` (seed {self.seed}, {seconds / 60:.0f} minutes).

- {self.operations:,} operations that were acknowledged, {self.kills:,} kills (SIGKILL, at any moment),
  {self.journals:,} journals with {self.lines:,} events.
- After every operation the file was compared with memory; after every kill all that was acknowledged was found, to
  the bit, and {self.unacknowledged:,} events that were on the disk before their acknowledgement.
- {self.replays:,} whole journals were replayed from their seeds, every suggestion identical.
- **No difference, no journal that could not be loaded.**

| operation | acknowledged |
|---|---|
{rows}
"""


def main() -> None:
    """Run lives from the command line, and write down what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began, last = time.monotonic(), 0.0

    def report(text: str) -> None:
        nonlocal last
        if time.monotonic() - last > 10.0:
            last = time.monotonic()
            print(f"{last - began:6.0f} s  {text}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        lives = Lives(Path(folder), options.seed, report)
        lives.run(options.operations, options.kills)
    text = lives.summary(time.monotonic() - began)
    print(text)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
