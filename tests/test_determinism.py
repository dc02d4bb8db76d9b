"""The same seed and the same events give the same suggestions, bit for bit, however the work was split up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_lines import edited
from optimizer_studies import NAMES, PSEUDO, SPACES, Plain, SpyLie, below, started, state, tell_all, value_of

from believer import (
    GP,
    PI,
    Believe,
    Candidates,
    Categorical,
    ConstantLie,
    Float,
    Int,
    Optimizer,
    PseudoObservations,
    Space,
    Trial,
    replay,
)
from believer.errors import JournalError
from believer.maximize import FixedStarts
from believer.numerics import backend
from believer.study.journal import read_events

ALL_SPACES = {**SPACES, "long grids": Space({"n": Int(0, 30_000), "x": Float(-1.0, 1.0, step=1e-5), "y": Float(0, 1)})}
any_space = pytest.mark.parametrize("name", ALL_SPACES)
any_pseudo = pytest.mark.parametrize("strategy", PSEUDO)


def bits(trials: Any) -> list[tuple[int, bytes, dict[str, Any], str]]:
    """All that an ask hands out; floats by their bits, in ``unit``."""
    return [(trial.id, trial.encoded.tobytes(), trial.params, trial.provenance) for trial in trials]


def constraint_of(name: str) -> Callable[[dict[str, Any]], bool] | None:
    return ALL_SPACES[name].constraint


# One by one, or all at once


@pytest.mark.both_backends("kb-", "cl_min-", "fantasy-")
@any_space
@any_pseudo
def test_asking_one_by_one_is_asking_at_once(name: str, strategy: str) -> None:
    together, apart = (started(ALL_SPACES[name], strategy=strategy) for _ in range(2))
    for _ in range(2):
        batch = together.ask(4)
        singles = [apart.ask(1)[0] for _ in range(4)]
        assert bits(batch) == bits(singles)
        tell_all(together, batch[1:])
        tell_all(apart, singles[1:])


@pytest.mark.both_backends
@each("strategy", NAMES)
def test_asking_one_by_one_is_asking_at_once_across_the_queue_the_design_and_the_model(strategy: str) -> None:
    together, apart = (Optimizer(SPACES["mixed"], n_init=5, strategy=strategy, seed=0) for _ in range(2))
    for optimizer in (together, apart):
        optimizer.observe({"lr": 0.3, "depth": 2, "kernel": "poly"}, 1.5)
        tell_all(optimizer, optimizer.ask(1))
        optimizer.enqueue({"lr": 0.01, "depth": 7, "kernel": 3})
    batch = together.ask(5)
    assert [trial.origin for trial in batch] == ["enqueued", "design", "design", "model", "model"]
    assert bits(batch) == bits([*apart.ask(2), *apart.ask(1), *apart.ask(2)])


OPTIONS: dict[str, dict[str, Any]] = {
    "refit": {"strategy": PseudoObservations(update="refit")},
    "incumbent of data": {"strategy": PseudoObservations(incumbent="data"), "surrogate": GP("se")},
    "no update": {"strategy": PseudoObservations(ConstantLie(2.0), "none")},
    "noisy": {"surrogate": GP(noise="infer")},
    "exact": {"surrogate": GP(noise=1e-6)},
    "only predicts": {"surrogate": Plain()},
    "candidates": {"maximizer": Candidates(candidates=256)},
    "repeating itself": {"maximizer": FixedStarts((0.5,)), "acquisition": PI(), "strategy": "cl_min"},
    "custom lie": {"strategy": PseudoObservations(SpyLie())},
}


@pytest.mark.both_backends
@each("option", OPTIONS)
def test_asking_one_by_one_is_asking_at_once_with_any_member(option: str) -> None:
    space = SPACES["line" if option == "repeating itself" else "constrained"]
    together, apart = (started(space, **OPTIONS[option]) for _ in range(2))
    assert bits(together.ask(4)) == bits([apart.ask(1)[0] for _ in range(4)])


def test_a_strategy_for_one_ask_leaves_no_trace_in_the_next() -> None:
    optimizer, twin = (started(SPACES["constrained"]) for _ in range(2))
    first = optimizer.ask(2, strategy="cl_max")
    for trial in first:
        twin.enqueue(trial.params)
    twin.ask(2)
    # A queued point is encoded anew, which may differ in the last bit.
    for trial, same in zip(optimizer.ask(2), twin.ask(2), strict=True):
        assert trial.params == pytest.approx(same.params, rel=1e-6)


# The order of results


def play(order: list[int], predicting: bool = False, failing: frozenset[int] = frozenset()) -> Optimizer:
    """Six trials told in this order, and four more asked for, with or without looking at predictions in between."""
    optimizer = Optimizer(SPACES["mixed"], n_init=3, seed=11)
    trials = list(optimizer.ask(3))
    tell_all(optimizer, trials[:1])
    trials += optimizer.ask(3)
    for place in order:
        if predicting:
            optimizer.predict([trials[0].params])
        trial = trials[place]
        optimizer.tell(trial, *([] if place in failing else [value_of(trial)]), error="x" if place in failing else None)
    if predicting:
        optimizer.predict([trials[0].params, trials[5].params])
    optimizer.ask(2)
    if predicting:
        optimizer.predict([trials[0].params])
    optimizer.ask(2)
    return optimizer


@pytest.mark.both_backends
@settings(max_examples=15)
@given(st.permutations(range(1, 6)), st.booleans(), st.frozensets(st.integers(1, 5), max_size=3))
def test_neither_the_order_of_results_nor_predictions_in_between_matter(
    order: list[int], predicting: bool, failing: frozenset[int]
) -> None:
    plain, shuffled = play([1, 2, 3, 4, 5], False, failing), play(order, predicting, failing)
    assert bits(plain.trials) == bits(shuffled.trials)
    assert state(plain) == state(shuffled)


@pytest.mark.both_backends
def test_predictions_are_the_same_before_and_after_an_ask() -> None:
    optimizer = started(SPACES["mixed"])
    points = [trial.params for trial in optimizer.trials]
    before = optimizer.predict(points)
    optimizer.ask(3)
    after = optimizer.predict(points)
    assert (before.mean == after.mean).all()
    assert (before.std == after.std).all()


# Saving and loading


def no_fit(*args: object, **kwargs: object) -> NoReturn:
    raise AssertionError("a fit was run")


def pending_only(optimizer: Optimizer) -> None:
    optimizer.ask(3)


def cached_fit(optimizer: Optimizer) -> None:
    optimizer.ask(2)
    optimizer.predict([optimizer.trials[0].params])


def after_tells(optimizer: Optimizer) -> None:
    batch = optimizer.ask(3)
    tell_all(optimizer, batch[1:])


def after_failures(optimizer: Optimizer) -> None:
    batch = optimizer.ask(3)
    optimizer.tell(batch[0], error="crashed")
    optimizer.tell(batch[2], float("nan"))


def after_abandoning(optimizer: Optimizer) -> None:
    optimizer.abandon(optimizer.ask(3)[1])


def after_observing(optimizer: Optimizer) -> None:
    optimizer.ask(1)
    optimizer.observe(optimizer.space.decode(np.full((1, optimizer.space.dim), 0.31))[0], 0.25)


def with_a_queue(optimizer: Optimizer) -> None:
    optimizer.ask(1)
    optimizer.enqueue(optimizer.trials[1].params)


def after_another_strategy(optimizer: Optimizer) -> None:
    optimizer.ask(2, strategy="cl_max")
    optimizer.ask(1, strategy="random")


MIDWAY: list[Callable[[Optimizer], None]] = [
    pending_only,
    cached_fit,
    after_tells,
    after_failures,
    after_abandoning,
    after_observing,
    with_a_queue,
    after_another_strategy,
]


@pytest.mark.parametrize("midway", MIDWAY)
@any_space
def test_a_loaded_study_suggests_what_the_saved_one_would_have(
    name: str, midway: Callable[[Optimizer], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimizer = started(ALL_SPACES[name])
    midway(optimizer)
    optimizer.save(tmp_path / "study.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(GP, "fit", no_fit)
        loaded = Optimizer.load(tmp_path / "study.jsonl", constraint=constraint_of(name))
    with loaded:
        assert bits(loaded.trials) == bits(optimizer.trials)
        assert state(loaded) == state(optimizer)
        first, second = optimizer.ask(2), loaded.ask(2)
        assert bits(first) == bits(second)
        tell_all(optimizer, first)
        tell_all(loaded, second)
        assert bits(optimizer.ask(2)) == bits(loaded.ask(2))


@any_pseudo
def test_loading_between_any_two_asks_changes_nothing_for_any_strategy(strategy: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    optimizer = started(SPACES["constrained"], strategy=strategy)
    loaded = started(SPACES["constrained"], strategy=strategy, journal=path)
    for _ in range(3):
        optimizer.ask(1)
        loaded.ask(1)
        loaded.close()
        loaded = Optimizer.load(path, constraint=below)
    optimizer.tell(5, 0.5)
    loaded.tell(5, 0.5)
    assert bits([*optimizer.trials, *optimizer.ask(2)]) == bits([*loaded.trials, *loaded.ask(2)])
    loaded.close()
    assert replay(path, constraint=below).identical


def test_an_ask_after_loading_needs_no_fit_until_results_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimizer = started(SPACES["mixed"])
    optimizer.ask(1)
    optimizer.save(tmp_path / "study.jsonl")
    monkeypatch.setattr(GP, "fit", no_fit)
    with Optimizer.load(tmp_path / "study.jsonl") as loaded:
        assert bits(loaded.ask(2)) == bits(optimizer.ask(2))
        tell_all(loaded, loaded.pending)
        with pytest.raises(AssertionError, match="a fit was run"):
            loaded.ask(1)


def test_a_loaded_study_goes_on_in_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["mixed"], journal=path).close()
    before = read_events(path)
    with Optimizer.load(path) as loaded:
        loaded.tell(loaded.ask(1)[0], 1.0)
    events = read_events(path)
    assert events[: len(before)] == before
    assert len(events) == len(before) + 2
    with Optimizer.load(path) as again:
        assert state(again) == state(loaded)


# Replay


def busy_study(path: Path, name: str = "mixed", **options: Any) -> None:
    """Design, model, queue, fixed, failures, late results, another strategy, a reload: all that a journal can hold."""
    space = ALL_SPACES[name]
    optimizer = started(space, journal=path, **options)
    name, value = next(iter(optimizer.trials[0].params.items()))
    first = optimizer.ask(2)
    optimizer.enqueue(optimizer.trials[0].params)
    optimizer.ask(2, fixed={name: value} if len(space) > 1 else None)
    optimizer.tell(first[0], error="crashed")
    optimizer.abandon(first[1])
    optimizer.close()
    optimizer = Optimizer.load(path, constraint=space.constraint)
    optimizer.ask(2, strategy="cl_min")
    tell_all(optimizer, [first[1], *optimizer.pending[:2]])
    optimizer.predict([optimizer.trials[0].params])
    optimizer.observe(space.decode(np.full((1, space.dim), 0.17))[0], 0.5)
    optimizer.ask(3, strategy=PseudoObservations(Believe(0.5), "refit"), distinct=False)
    optimizer.close()


@pytest.mark.both_backends
@any_space
def test_replay_makes_every_suggestion_again(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    busy_study(path, name)
    before = path.read_bytes()
    result = replay(path, constraint=constraint_of(name))
    assert (result.asks, result.line, result.difference) == (5, None, None)
    assert result.identical
    assert str(result) == "5 asks replayed, every suggestion identical"
    assert path.read_bytes() == before


def test_replay_says_when_a_difference_may_come_from_another_backend(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with backend.using("python"):
        busy_study(path)
        edited(path, lambda event: event["versions"].update(backend="native"), 1)
        assert replay(path).identical
        edited(path, lambda event: event["trials"][0]["unit"].__setitem__(0, 0.123), lines_asked(path)[1])
        assert "(written with the backend 'native', replayed with 'python'" in str(replay(path))
        edited(path, lambda event: event["versions"].update(backend="python"), 1)
        assert "backend" not in str(replay(path))


@pytest.mark.parametrize("strategy", ["fantasy", "random"])
@pytest.mark.parametrize("maximize", [False, True])
def test_replay_knows_the_settings_of_the_study(strategy: str, maximize: bool, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    busy_study(path, strategy=strategy, maximize=maximize, n_init=5, seed=17)
    assert replay(path).identical


def lines_asked(path: Path) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, start=1) if json.loads(line)["kind"] == "asked"]


def another_param(event: dict[str, Any]) -> None:
    event["trials"][-1]["params"]["lr"] *= 1.0 + 1e-15


def another_coordinate(event: dict[str, Any]) -> None:
    event["trials"][-1]["unit"][0] = np.nextafter(event["trials"][-1]["unit"][0], 0.5)


def another_lengthscale(event: dict[str, Any]) -> None:
    event["model"]["outputs"]["value"]["lengthscales"][0] *= 1.0 + 1e-15


@pytest.mark.parametrize(
    ("ask", "tamper"),
    [
        (ask, tamper)
        for tamper in (another_param, another_coordinate, another_lengthscale)
        for ask in range(tamper is another_lengthscale, 5)  # the first one is a design, without a model
    ],
)
def test_replay_finds_a_tampered_ask(ask: int, tamper: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    busy_study(path)
    line = lines_asked(path)[ask]
    edited(path, tamper, line)
    result = replay(path)
    assert not result.identical
    assert result.line == line
    assert result.asks == ask + 1
    assert str(result).startswith(f"line {line} differs: ")


def test_replay_finds_another_seed_and_an_edited_result(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    busy_study(path)
    original = path.read_bytes()
    edited(path, lambda begun: begun["config"].update(seed=1), 1)
    result = replay(path)
    assert (result.asks, result.line) == (1, 2)
    path.write_bytes(original)
    edited(path, lambda told: told["objectives"].update(value=told["objectives"]["value"] + 1e-9), 3)
    assert replay(path).line == lines_asked(path)[1]


@pytest.mark.parametrize("missing", ["strategy", "fixed", "distinct"])
def test_replay_of_a_request_that_lacks_a_field_is_a_journal_error(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    busy_study(path)
    edited(path, lambda event: event["request"].pop(missing), lines_asked(path)[1])
    with pytest.raises(JournalError):
        replay(path)


def out_of_order(event: dict[str, Any]) -> None:
    event["id"] = 3


def unknown_trial(event: dict[str, Any]) -> None:
    event["id"] = 40


@pytest.mark.parametrize("tamper", [out_of_order, unknown_trial])
def test_results_that_do_not_follow_are_a_journal_error_for_load_and_replay(
    tamper: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["cube"], journal=path).close()
    edited(path, tamper, 3)
    for read in (Optimizer.load, replay):
        with pytest.raises(JournalError):
            read(path)


# A journal cut anywhere


def test_a_journal_cut_at_any_byte_is_a_prefix_of_the_study_or_a_journal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``pending`` and ``best`` agree with the lines that are complete, and the next ids follow from them."""
    path = tmp_path / "study.jsonl"
    space = Space({"x": Float(0.0, 1.0), "c": Categorical(["a", "b"])})
    optimizer = Optimizer(space, n_init=2, journal=path, seed=0)
    seen: list[tuple[int, list[int], Any]] = []

    def note() -> None:
        seen.append((len(optimizer.trials), [trial.id for trial in optimizer.pending], optimizer.best))

    note()
    steps: list[Callable[[], object]] = [
        lambda: optimizer.ask(2),
        lambda: optimizer.tell(1, -0.5),
        lambda: optimizer.tell(0, error="no"),
        lambda: optimizer.enqueue({"x": 0.5, "c": "b"}),
        lambda: optimizer.ask(2),
        lambda: optimizer.abandon(2),
        lambda: optimizer.observe({"x": 0.25, "c": "a"}, -1.5),
        lambda: optimizer.ask(1),
        lambda: optimizer.tell(2, -2.5),
    ]
    for step in steps:
        step()
        note()
    optimizer.close()
    whole = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda fd: None)  # thousands of cuts; what reaches the disk is not the question
    for cut in range(len(whole) + 1):
        path.unlink()
        path.write_bytes(whole[:cut])
        lines = whole[:cut].count(b"\n")
        if lines == 0:
            with pytest.raises(JournalError):
                Optimizer.load(path)
            continue
        with Optimizer.load(path) as loaded:
            found = (len(loaded.trials), [trial.id for trial in loaded.pending], loaded.best)
            assert found == seen[lines - 1]
            if whole[:cut].endswith(b"\n"):
                trial: Trial = loaded.ask(1)[0]
                assert trial.id == seen[lines - 1][0]
