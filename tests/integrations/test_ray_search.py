"""BelieverSearch as Ray Tune calls it, without a cluster; test_ray_tune.py has Tune itself."""

from __future__ import annotations

import json
import math
import pickle
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from local_ray import needs_ray

from believer.errors import InvalidInput, JournalCorrupt, JournalError, JournalTooNew, MissingExtra
from believer.plugins import History, make_settings, propose

Config = dict[str, Any]


def param_space() -> Config:
    from ray import tune

    return {
        "model": {"lr": tune.loguniform(1e-4, 1.0), "width": tune.qrandint(8, 64, 8)},
        "act": tune.choice(["relu", "tanh"]),
        "epochs": 3,
    }


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


@needs_ray
def test_running_trials_are_pending_points() -> None:
    """One by one, they are the batch that the engine gives at once, bit for bit."""
    from believer.integrations.ray.spaces import tune_space

    searcher, where = search(), tune_space(param_space())
    done = run(searcher, 0, 8)
    settings, fitted = make_settings(where.space), searcher._fitted
    history = History.of(settings, [(i, where.params(c), loss(c)) for i, c in enumerate(done)], fitted)
    running = [searcher.suggest(f"r{i}") for i in range(4)]
    assert running == [where.config(trial.params) for trial in propose(settings, history, 4).batch]
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
    own = search(max_concurrent=1)
    assert own.suggest("a") is not None
    assert own.suggest("b") is None
    with pytest.raises(InvalidInput, match="max_concurrent must be a whole number, 1 or more; got 0"):
        search(max_concurrent=0)


@needs_ray
def test_however_a_trial_ends_it_is_no_longer_pending() -> None:
    searcher = search(max_concurrent=1)

    def end(name: str, *reports: Any, **how: Any) -> Any:
        """What came back of a trial, None where it is forgotten."""
        assert searcher.suggest(name) is not None
        for report in reports:
            searcher.on_trial_result(name, report)
        searcher.on_trial_complete(name, **how)
        return next((trial.came_back for trial in searcher._trials.values() if trial.name == name), None)

    assert end("done", {"loss": 3.0}, {"loss": 1.0}, result={"loss": 1.0}) == 1.0
    assert end("stopped early", {"loss": 2.0}, result={"loss": 2.0}) == 2.0
    assert end("paused, then stopped", {"loss": 2.5}, {"other": 0.0}) == 2.5
    assert end("error", {"loss": 0.0}, error=True) == "the trial ended with an error"
    assert end("nan", result={"loss": math.nan}) == "returned nan"
    assert "number" in end("no number", result={"loss": "low"})
    assert end("no metric", result={"other": 1.0}) == "the trial reported no loss"
    assert end("never ran") is None
    searcher.on_trial_complete("done", {"loss": -1e6})  # too late
    searcher.on_trial_complete("error", {"loss": 5.0})  # resumed
    answers = {trial.name: trial.came_back for trial in searcher._trials.values()}
    assert (answers["done"], answers["error"]) == (1.0, 5.0)
    params = next(trial.params for trial in searcher._trials.values() if trial.name == "nan")
    config = {"model/lr": params["model/lr"], "model/width": 8 * params["model/width"], "act": params["act"]}
    result = {"loss": 6.0, "config/epochs": 3, **{f"config/{name}": value for name, value in config.items()}}
    searcher.on_trial_complete("restarted under another name", result)
    assert next(trial.came_back for trial in searcher._trials.values() if trial.name == "nan") == 6.0
    searcher.on_trial_complete("stranger", {**result, "config/model/lr": 0.123})
    searcher.on_trial_complete("stranger", {"loss": -1e6})
    searcher.on_trial_complete("stranger", error=True)
    assert searcher.suggest("next") is not None
    assert searcher._reported == {}


@needs_ray
def test_a_finite_space_ends_the_search() -> None:
    from ray import tune

    searcher = search({"n": tune.randint(0, 3)})
    assert sorted(config["n"] for config in run(searcher, 0, 3, lambda config: config["n"])) == [0, 1, 2]
    assert searcher.suggest("more") == "FINISHED"


@needs_ray
def test_points_of_the_users_own_come_first_or_count_as_results() -> None:
    first = [{"model": {"lr": 0.5, "width": 16}, "act": "tanh"}, {"model/lr": 0.1, "model/width": 64, "act": "relu"}]
    searcher = search(points_to_evaluate=first)
    assert searcher.suggest("a") == {"model": {"lr": 0.5, "width": 16}, "act": "tanh", "epochs": 3}
    assert searcher.suggest("b") == {"model": {"lr": 0.1, "width": 64}, "act": "relu", "epochs": 3}
    assert searcher.suggest("c")["model"]["lr"] not in (0.5, 0.1)
    known = search(points_to_evaluate=first, evaluated_rewards=[1.5, 2.5], n_init=2)
    assert known._history(known._settings, known._trials, None, []).ids == (0, 1)
    known.add_evaluated_point(first[0], 0.0, error=True)
    assert known.suggest("a")["model"]["lr"] not in (0.5, 0.1)
    for options, text in (
        ({"points_to_evaluate": first, "evaluated_rewards": [1.0]}, "one for each point; got 1 for 2"),
        ({"points_to_evaluate": 3}, "must be a list of configs"),
        ({"points_to_evaluate": [{"act": "relu"}]}, "'model/lr' is missing"),
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
    with pytest.raises(TypeError, match="surogate"):
        BelieverSearch(surogate="gp")
    with pytest.raises(InvalidInput, match="needs a space: pass param_space"):
        BelieverSearch(metric="loss", mode="min").suggest("a")
    with pytest.raises(InvalidInput, match="needs a goal"):
        BelieverSearch(param_space()).suggest("a")
    own = BelieverSearch(param_space())
    assert own.set_search_properties("loss", "min", {}) is False
    assert own.suggest("a")["epochs"] == 3
    begun = search()
    begun.suggest("a")
    with pytest.raises(InvalidInput, match=r"one set of settings; these are others: .*space"):
        begun.set_search_properties("loss", "min", objects())
    with pytest.raises(InvalidInput, match="one metric, here loss; got gain"):
        begun.set_search_properties("gain", "min", param_space())
    with pytest.raises(InvalidInput, match="these are others: maximize"):
        begun.set_search_properties("loss", "max", param_space())
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

    bare = BelieverSearch(seed=None)  # the file has the space and the goal; constants are the tuner's
    bare.restore(path)
    assert (bare.metric, bare.mode) == ("loss", "min")
    copied = pickle.loads(pickle.dumps(searcher))
    for one in (searcher, again, bare, copied):
        assert {**one.suggest("running"), "epochs": 3} == running
        one.on_trial_complete("running")  # as it was paused, then stopped
    expected = run(searcher, 20, 26)
    for one in (again, copied):
        assert run(one, 20, 26) == expected
    assert [{**config, "epochs": 3} for config in run(bare, 20, 26)] == expected


@needs_ray
def test_choices_that_are_no_plain_values_come_from_the_tuner_again(tmp_path: Path) -> None:
    from believer.integrations.ray import BelieverSearch

    searcher = search(objects())
    run(searcher, 0, 6, lambda config: config["x"] + len(config["layers"]))
    searcher.save(tmp_path / "state")
    assert b"8" in (tmp_path / "state").read_bytes()
    again = search(objects())
    again.restore(tmp_path / "state")
    assert again.suggest("a") == searcher.suggest("a")
    with pytest.raises(InvalidInput, match="does not hold all of its space"):
        BelieverSearch().restore(tmp_path / "state")


@needs_ray
def test_a_file_of_another_search_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state"
    searcher = search()
    run(searcher, 0, 3)
    searcher.save(path)
    for options, text in (
        ({"seed": 1}, "these are others: seed"),
        ({"strategy": "random"}, "these are others: strategy"),
        ({"space": objects()}, "these are others: space"),
        ({"space": {**param_space(), "act": param_space()["model"]["lr"]}}, "these are others: space"),
    ):
        other = search(**options)
        with pytest.raises(InvalidInput, match=text):
            other.restore(path)
        assert other._trials == {}
    from believer.integrations.ray import BelieverSearch

    with pytest.raises(InvalidInput, match="a search for the min of loss, this one for the max of gain"):
        BelieverSearch(metric="gain", mode="max").restore(path)


def signed(text: str) -> bytes:
    """A file with a right checksum, whatever it says."""
    return f'{text[:-1]},"crc32":"{zlib.crc32(text[:-1].encode()):08x}"}}'.encode()


@needs_ray
def test_a_foreign_or_damaged_file_gets_one_clear_exception(tmp_path: Path) -> None:
    path, searcher = tmp_path / "state", search()
    run(searcher, 0, 9)
    searcher.save(path)
    good = path.read_bytes()
    found = json.loads(good)
    del found["crc32"]

    def with_(**changes: Any) -> bytes:
        return signed(json.dumps({**found, **changes}))

    trials, fitted = found["trials"], found["fitted"]
    assert fitted is not None
    foreign: list[tuple[bytes, type[JournalError]]] = [
        (b"", JournalCorrupt),
        (b"\x80\x04K\x01.", JournalCorrupt),
        (pickle.dumps({"a": 1}), JournalCorrupt),
        (b"[]", JournalCorrupt),
        (b"{}", JournalCorrupt),
        (b"[" * 100_000, JournalCorrupt),
        (good[:-20], JournalCorrupt),
        (good.replace(b"0.", b"1.", 1), JournalCorrupt),
        (signed('{"kind":"begun"}'), JournalCorrupt),
        (with_(format=2), JournalTooNew),
        (with_(settings={}), JournalCorrupt),
        (with_(settings=None), JournalCorrupt),
        (with_(leaves=[1]), JournalCorrupt),
        (with_(trials=[[0]]), JournalCorrupt),
        (with_(trials=[[0, 3, *trials[0][2:]]]), JournalCorrupt),
        (with_(trials=[trials[0], trials[0]]), JournalCorrupt),
        (with_(trials=[[0, "a", {}, 1.0]]), JournalCorrupt),
        (with_(trials=[[0, "a", trials[0][2], []]]), JournalCorrupt),
        (with_(trials={}, queue=3), JournalCorrupt),
        (with_(queue=[{"lr": 3}]), JournalCorrupt),
        (with_(fitted=[[0], {"lengthscales": []}]), JournalCorrupt),
        (with_(fitted=[["x"], fitted[1]]), JournalCorrupt),
        (with_(reported=[]), JournalCorrupt),
    ]
    from believer.integrations.ray import BelieverSearch

    for data, kind in foreign:
        path.write_bytes(data)
        for other in (search(), BelieverSearch()):
            with pytest.raises((JournalError, InvalidInput), match="state") as caught:
                other.restore(path)
            assert type(caught.value) is kind or "is of another search" in str(caught.value)
            assert other._trials == {}
    with pytest.raises(JournalError, match="cannot read"):
        search().restore(tmp_path / "nowhere")
    with pytest.raises(JournalError, match="cannot read"):
        search().restore(tmp_path)


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a file, at any depth."""
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


@needs_ray
def test_every_field_with_something_nasty_is_refused_or_harmless(tmp_path: Path) -> None:
    from believer.integrations.ray import BelieverSearch

    path, searcher = tmp_path / "state", search()
    run(searcher, 0, 7)
    searcher._queue.append(dict(searcher._trials[0].params))
    searcher.on_trial_result("running", {"loss": 1.0})
    searcher.save(path)
    good = json.loads(path.read_bytes())
    del good["crc32"]
    gone = object()
    taken = 0
    for place in places(good):
        for nasty in (None, -1, 1e308, "x", [], {}, True, gone):
            found = json.loads(json.dumps(good))
            part = found
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = nasty
            if nasty is gone:
                del part[place[-1]]
            path.write_bytes(signed(json.dumps(found)))
            for other in (search(), BelieverSearch(seed=None)):
                with suppress(JournalError, InvalidInput):
                    other.restore(path)
                    taken += 1
                    assert isinstance(other.suggest("next"), dict)
    assert taken > 0


def test_importing_believer_or_the_door_loads_no_ray() -> None:
    import subprocess

    code = "import sys, believer, believer.integrations.ray; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.tune.search", None)
    for name in ("search", "spaces"):
        monkeypatch.delitem(sys.modules, f"believer.integrations.ray.{name}", raising=False)
    with pytest.raises(MissingExtra, match=r"needs Ray Tune; .*pip install 'believer\[ray\]'"):
        from believer.integrations.ray import BelieverSearch  # noqa: F401
