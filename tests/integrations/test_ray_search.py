"""BelieverSearch as Ray Tune calls it, without a cluster; test_ray_tune.py has Tune itself."""

from __future__ import annotations

import copy
import importlib
import json
import math
import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from local_ray import needs_ray

from believer import Categorical, Float, Int, Optimizer, Space, read_study
from believer.errors import InvalidInput, JournalError, MissingExtra

Config = dict[str, Any]

SPACE = Space(
    {
        "model/lr": Float(1e-4, 1.0, log=True),
        "model/width": Int(8, 64, step=8),
        "act": Categorical(["relu", "tanh"]),
    }
)
"""What ``param_space`` is here."""


def param_space() -> Config:
    from ray import tune

    return {
        "model": {"lr": tune.loguniform(1e-4, 1.0), "width": tune.qrandint(8, 64, 8)},
        "act": tune.choice(["relu", "tanh"]),
        "epochs": 3,
    }


def flat(config: Config) -> Config:
    """As a config stands in a result of Tune."""
    from ray.tune.utils.util import flatten_dict

    found: Config = flatten_dict({"config": config})
    return found


def objects() -> Config:
    """A space that no file can hold."""
    from ray import tune

    return {"x": tune.uniform(0, 1), "layers": tune.choice([[8], [8, 8]])}


def loss(config: Config) -> float:
    model = config["model"]
    return float(math.log10(model["lr"] / 0.02) ** 2 + model["width"] / 64 + (config["act"] == "tanh"))


def search(space: Config | None = None, **options: Any) -> Any:
    """As a tuner leaves it before the first trial."""
    from believer.integrations.ray import BelieverSearch

    made = BelieverSearch(**options)
    assert made.set_search_properties("loss", "min", param_space() if space is None else space)
    return made


def run(searcher: Any, first: int, last: int, f: Callable[[Config], float] = loss) -> list[Config]:
    """One trial after the other."""
    configs = []
    for i in range(first, last):
        configs.append(searcher.suggest(f"t{i}"))
        searcher.on_trial_complete(f"t{i}", {"loss": f(configs[-1])})
    return configs


@needs_ray
def test_it_finds_the_minimum_and_leaves_constants_alone() -> None:
    configs = run(search(seed=3), 0, 20)
    assert all(config["epochs"] == 3 for config in configs)
    assert min(map(loss, configs)) < 0.2
    assert configs == run(search(seed=3), 0, 20)
    assert configs != run(search(seed=4), 0, 20)


def records(searcher: Any, home: Path) -> list[dict[str, Any]]:
    """What a search knows, read from the journal that it saves."""
    searcher.save(home / "records")
    return read_study(home / "records").records()


@needs_ray
def test_running_trials_are_pending_points() -> None:
    """One by one, they are the batch that the engine gives at once, bit for bit."""
    searcher, study = search(), Optimizer(SPACE, seed=0)
    for config in run(searcher, 0, 8):
        study.tell(study.ask().trials[0], loss(config))
    running = [searcher.suggest(f"r{i}") for i in range(4)]
    assert running == [
        {"model": {"lr": p["model/lr"], "width": p["model/width"]}, "act": p["act"], "epochs": 3}
        for p in (trial.params for trial in study.ask(4))
    ]
    assert len({json.dumps(config) for config in running}) == 4
    assert searcher.suggest("r2") == running[2]


@needs_ray
def test_to_maximize_is_to_minimize_the_negative() -> None:
    from believer.integrations.ray import BelieverSearch

    up, down = BelieverSearch(mode="max", space=param_space()), BelieverSearch(mode="min", space=param_space())
    for i in range(12):
        one, other = up.suggest(f"{i}"), down.suggest(f"{i}")
        assert one == other
        up.on_trial_complete(f"{i}", {"_metric": -loss(one)})  # what Tune calls the metric of a plain number
        down.on_trial_complete(f"{i}", {"_metric": loss(one)})


@needs_ray
def test_the_limit_is_kept_here_and_the_limiter_of_tune_leaves_it_so() -> None:
    from ray.tune.search import ConcurrencyLimiter

    searcher = search()
    limiter = ConcurrencyLimiter(searcher, 2)
    assert not limiter._limit_concurrency
    assert [limiter.suggest(name) is None for name in "abc"] == [False, False, True]
    limiter.on_trial_complete("a", {"loss": 1.0})
    assert limiter.suggest("c") is not None
    with pytest.raises(InvalidInput, match="max_concurrent must be a whole number, 1 or more; got 0"):
        searcher.set_max_concurrency(0)


@needs_ray
def test_however_a_trial_ends_it_is_no_longer_pending(tmp_path: Path) -> None:
    searcher = search()
    searcher.set_max_concurrency(1)

    def end(name: str, *reports: Any, **how: Any) -> Any:
        """What came back of a trial."""
        assert searcher.suggest(name) is not None
        for report in reports:
            searcher.on_trial_result(name, report)
        searcher.on_trial_complete(name, **how)
        last = records(searcher, tmp_path)[-1]
        return {"done": last["value"], "failed": last["error"]}.get(last["status"], last["status"])

    assert end("done", {"loss": 3.0}, {"loss": 1.0}, result={"loss": 1.0}) == 1.0
    assert end("stopped early", {"loss": 2.0}, result={"loss": 2.0}) == 2.0
    assert end("paused, then stopped", {"loss": 2.5}, {"other": 0.0}) == 2.5
    assert end("error", {"loss": 0.0}, error=True) == "the trial ended with an error"
    assert end("nan", result={"loss": math.nan}) == "returned nan"
    assert "number" in end("no number", result={"loss": "low"})
    assert end("no metric", result={"other": 1.0}) == "the trial reported no loss"
    assert end("never ran") == "abandoned"
    assert end("of numpy", result={"loss": np.float32(0.5)}) == 0.5


@needs_ray
def test_a_result_that_nobody_waits_for_counts_where_its_point_has_none(tmp_path: Path) -> None:
    searcher = search()
    done = flat(searcher.suggest("done"))
    searcher.on_trial_complete("done", {**done, "loss": 1.0})
    failed = flat(searcher.suggest("failed"))
    searcher.on_trial_complete("failed", error=True)
    searcher.on_trial_complete("done", {**done, "loss": -1e6})  # too late
    searcher.on_trial_complete("other name", {**failed, "loss": 2.0, "loss/train": 1.0})  # as Tune restarts a trial
    searcher.on_trial_complete("after the last save", {**done, "config/model/lr": 0.123, "loss": 3.0})
    searcher.on_trial_complete("stranger", {"loss": -1e6})
    searcher.on_trial_complete("stranger", {**done, "config/act": "gelu", "loss": -1e6})
    searcher.on_trial_complete("stranger", error=True)
    searcher.on_trial_complete("stranger")
    rows = records(searcher, tmp_path)
    assert [row["status"] for row in rows] == ["done", "failed", "done", "done"]
    assert [row["value"] for row in rows if row["status"] == "done"] == [1.0, 2.0, 3.0]
    assert len(searcher._study._ledger.history(searcher._study.settings).failed) == 0  # it was made good


@needs_ray
def test_a_restarted_trial_is_known_where_a_choice_is_a_dict_or_within_a_list(tmp_path: Path) -> None:
    from ray import tune
    from ray.tune.utils.util import flatten_dict

    space = {"a": {"opt": tune.choice([{"lr": 1}, {"lr": 2}]), "layers": [tune.randint(0, 99), 8]}}
    searcher = search(space)
    config = searcher.suggest("first")
    searcher.on_trial_complete("first", error=True)
    searcher.on_trial_complete("again", flatten_dict({"loss": 4.0, "config": config}))
    assert [row["value"] for row in records(searcher, tmp_path)][1:] == [4.0]


@needs_ray
def test_a_finite_space_ends_the_search() -> None:
    from ray import tune

    searcher = search({"n": tune.randint(0, 3)})
    assert sorted(config["n"] for config in run(searcher, 0, 3, lambda config: config["n"])) == [0, 1, 2]
    assert searcher.suggest("more") == "FINISHED"


@needs_ray
def test_points_of_the_users_own_come_first_or_count_as_results(tmp_path: Path) -> None:
    first = [{"model": {"lr": 0.5, "width": 16}, "act": "tanh"}, {"model/lr": 0.1, "model/width": 64, "act": "relu"}]
    searcher = search(points_to_evaluate=first)
    assert searcher.suggest("a") == {"model": {"lr": 0.5, "width": 16}, "act": "tanh", "epochs": 3}
    assert searcher.suggest("b") == {"model": {"lr": 0.1, "width": 64}, "act": "relu", "epochs": 3}
    assert searcher.suggest("c")["model"]["lr"] not in (0.5, 0.1)
    known = search(points_to_evaluate=first, evaluated_rewards=[1.5, math.nan], n_init=2)
    assert [row["status"] for row in records(known, tmp_path)] == ["done", "failed"]
    assert known.suggest("a")["model"]["lr"] not in (0.5, 0.1)
    for options, text in (
        ({"points_to_evaluate": first, "evaluated_rewards": [1.0]}, "must be a list, .* zip"),
        ({"points_to_evaluate": 3}, "must be a list"),
        ({"points_to_evaluate": [{"act": "relu"}]}, "no 'model/lr' is in"),
    ):
        with pytest.raises(InvalidInput, match=text):
            search(**options)


@needs_ray
def test_what_cannot_work_is_refused_before_a_trial_is_paid_for() -> None:
    from believer.integrations.ray import BelieverSearch

    for options, text in (
        ({"strategy": "nonsense"}, "strategy"),
        ({"seed": -1}, "seed"),
        ({"mode": "best"}, 'mode "min" or "max"'),
        ({"metric": ["a", "b"], "mode": ["min", "max"]}, "one metric"),
        ({"space": 3}, "dict of Tune's domains"),
    ):
        with pytest.raises(InvalidInput, match=text):
            BelieverSearch(**options)
    for name in ("surogate", "journal", "maximize"):
        with pytest.raises((InvalidInput, TypeError), match=name):
            BelieverSearch(**dict.fromkeys([name], "gp"))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="needs a space, a metric and a mode: pass"):
        BelieverSearch(metric="loss", mode="min").suggest("a")
    with pytest.raises(InvalidInput, match="needs a space, a metric and a mode"):
        BelieverSearch(param_space()).suggest("a")
    with pytest.raises(InvalidInput, match="one goal, here the max of gain; got min of loss"):
        search(metric="gain", mode="max")
    own = BelieverSearch(param_space())
    assert own.set_search_properties("loss", "min", {}) is False
    assert own.suggest("a")["epochs"] == 3
    begun = search()
    begun.suggest("a")
    with pytest.raises(InvalidInput, match=r"one space, here of model/lr, model/width, act in their bounds"):
        begun.set_search_properties("loss", "min", objects())
    for goal in (("gain", "min"), ("loss", "max")):
        with pytest.raises(InvalidInput, match=f"one goal, here the min of loss; got {goal[1]} of {goal[0]}"):
            begun.set_search_properties(*goal, param_space())
    assert begun.set_search_properties("loss", "min", {**param_space(), "epochs": 4})
    assert begun.suggest("b")["epochs"] == 4


@needs_ray
@pytest.mark.parametrize("done", [0, 3, 11])
def test_a_saved_search_goes_on_bit_for_bit(done: int, tmp_path: Path) -> None:
    path = tmp_path / "state"
    searcher = search(points_to_evaluate=[{"model": {"lr": 0.5, "width": 16}, "act": "tanh"}] * 2, seed=5)
    run(searcher, 0, done)
    running = searcher.suggest("running")
    searcher.on_trial_result("running", {"loss": 0.7})
    searcher.save(path)
    again = search(seed=5)
    again.restore(path)
    from believer.integrations.ray import BelieverSearch

    bare = BelieverSearch(seed=None)  # as a script does that gives it to a new tuner
    bare.restore(path)
    assert (bare.metric, bare.mode) == ("loss", "min")
    alone = BelieverSearch()  # as Tuner.restore has it, where nobody says param_space again
    alone.restore(path)
    assert {**alone.suggest("running"), "epochs": 3} == running
    assert bare.set_search_properties(None, None, param_space())
    copied = pickle.loads(pickle.dumps(searcher))
    for one in (searcher, again, bare, copied):
        assert one.suggest("running") == running
        one.on_trial_complete("running")  # as it was paused, then stopped
    expected = run(searcher, 20, 26)
    for one in (again, bare, copied):
        assert run(one, 20, 26) == expected


@needs_ray
def test_choices_that_are_no_plain_values_come_from_the_tuner_again(tmp_path: Path) -> None:
    from believer.integrations.ray import BelieverSearch

    searcher = search(objects())
    run(searcher, 0, 6, lambda config: config["x"] + len(config["layers"]))
    searcher.save(tmp_path / "state")
    again = BelieverSearch()
    again.restore(tmp_path / "state")
    with pytest.raises(InvalidInput, match="needs a space"):
        again.suggest("a")
    again.set_search_properties("loss", "min", objects())
    assert again.suggest("a") == searcher.suggest("a")


@needs_ray
def test_a_file_of_another_search_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    from ray import tune

    from believer.integrations.ray import BelieverSearch

    path, before = tmp_path / "state", run(search(), 0, 3)
    searcher = search()
    run(searcher, 0, 3)
    searcher.save(path)
    wider = {**param_space(), "act": tune.choice(["relu", "tanh", "gelu"])}
    for options, text in (
        ({"strategy": "random"}, "written with strategy"),
        ({"space": objects()}, "one space, here of model/lr"),
        ({"space": wider}, "one space"),
    ):
        other = search(**options)
        with pytest.raises(InvalidInput, match=text):
            other.restore(path)
        other.save(tmp_path / "other")
        assert read_study(tmp_path / "other").trials == ()
    for metric, mode in (("gain", "min"), ("loss", "max")):
        with pytest.raises(InvalidInput, match=r"one goal, here the m.. of .*; got min of loss"):
            BelieverSearch(metric=metric, mode=mode).restore(path)
    taken = search(seed=9)
    taken.restore(path)  # its seed is the file's
    assert taken.suggest("t3") == searcher.suggest("t3")
    assert before == run(search(), 0, 3)


def saved(path: Path) -> list[dict[str, Any]]:
    """The lines of a file without their checksums."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [{name: value for name, value in line.items() if name != "crc32"} for line in lines]


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    """A file with right checksums, whatever it says."""
    texts = [json.dumps(line, separators=(",", ":")) for line in lines]
    path.write_text("".join(f'{t[:-1]},"crc32":"{zlib.crc32(t.encode()):08x}"}}\n' for t in texts))


@needs_ray
def test_a_foreign_or_damaged_file_gets_one_clear_exception(tmp_path: Path) -> None:
    from believer.integrations.ray import BelieverSearch

    path, searcher = tmp_path / "state", search()
    run(searcher, 0, 9)
    searcher.suggest("running")
    searcher.on_trial_result("running", {"loss": 1.0})
    searcher.save(path)
    good, lines = path.read_bytes(), saved(path)
    write(path, lines)
    assert path.read_bytes() == good
    study = Optimizer(SPACE, seed=0)
    study.save(tmp_path / "journal")

    def refused() -> None:
        for other in (search(), BelieverSearch()):
            study = other._study
            with pytest.raises((JournalError, InvalidInput)):
                other.restore(path)
            assert other._study is study

    for data in (b"", b"\x80\x04K\x01.", pickle.dumps({"a": 1}), b"[]", b"{}", b"[" * 100_000, b"{}\n"):
        path.write_bytes(data)
        refused()
    for data in (good.replace(b"0.", b"1.", 1), (tmp_path / "journal").read_bytes()):
        path.write_bytes(data)
        refused()
    tune = lines[0]["config"]["tune"]
    changes: list[dict[str, Any]] = [
        {"metric": 3},
        {"running": {"running": 0}},
        {"running": {"running": 99}},
        {"running": {"running": []}},
        {"running": []},
        {"reported": {"running": 1.0}},
        {"reported": {"running": {"value": 1.0, "x": 2}}},
        {"reported": None},
    ]
    for change in changes:
        write(path, [{**lines[0], "config": {**lines[0]["config"], "tune": {**tune, **change}}}, *lines[1:]])
        refused()
    write(path, [lines[0] | {"format": 99}, *lines[1:]])
    refused()
    path.unlink()
    refused()
    path.mkdir()
    refused()


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a file, at any depth."""
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


@needs_ray
def test_every_field_with_something_nasty_is_refused_or_harmless(tmp_path: Path) -> None:
    path, searcher = tmp_path / "state", search(points_to_evaluate=[{"model/lr": 0.5, "model/width": 8, "act": "relu"}])
    run(searcher, 0, 7)
    searcher.suggest("running")
    searcher.on_trial_result("running", {"loss": 1.0})
    searcher.save(path)
    good, gone, taken = saved(path), object(), 0
    some = [*good[:4], good[-1]]
    for place in places(some):
        for nasty in (None, -1, 1e308, "x", [], {}, True, gone):
            found: Any = copy.deepcopy(good)
            place = (len(good) - 1, *place[1:]) if place[0] == 4 else place
            part = found
            for key in place[:-1]:
                part = part[key]
            if nasty is gone:
                del part[place[-1]]
            else:
                part[place[-1]] = nasty
            if not all(isinstance(line, dict) for line in found):
                continue
            write(path, found)
            other = search()
            with suppress(JournalError, InvalidInput):
                other.restore(path)
                taken += 1
                assert isinstance(other.suggest("next"), dict)
                other.on_trial_complete("running")
    assert taken > 0


def test_importing_believer_loads_no_ray() -> None:
    code = "import sys, believer, believer.integrations; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "believer.integrations.ray", raising=False)
    with pytest.raises(MissingExtra, match=r"needs Ray Tune; .*pip install 'believer\[ray\]'"):
        importlib.import_module("believer.integrations.ray")
