"""What figures show, beside a direct computation."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plot_studies import bowl, limited, mixed, one, several
from scipy.stats import norm

import believer as bv
from believer.acquisitions import EI
from believer.acquisitions.hypervolume import hypervolume
from believer.batch import Believe
from believer.errors import InvalidInput, MissingCapability
from believer.plot import data
from believer.plot.data.importance import relevance_of
from believer.surrogates.data import Data

Z = 1.959963984540054


class Mean:
    """A surrogate of one's own: the mean of the results everywhere."""

    def fit(self, given: Data, rng: np.random.Generator, previous: object = None) -> Any:
        return _Constant(float(given.y.mean()), float(given.y.std()) + 1e-6)


class _Constant:
    def __init__(self, mean: float, std: float) -> None:
        self.mean, self.std = mean, std

    def predict(self, X: np.ndarray) -> Any:
        from believer.surrogates.protocols import Prediction

        return Prediction(np.full(len(X), self.mean), np.full(len(X), self.std))


# The study behind a figure


def test_every_kind_of_study_is_the_same_source(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with mixed(path) as study:
        expected = data.slice(study)
    for again in (path, str(path), bv.read_study(path), data.study_of(path)):
        found = data.slice(again)
        for then, now in zip(expected, found, strict=True):
            np.testing.assert_allclose(now.mean, then.mean, rtol=1e-12)
    result = bv.minimize(lambda p: (p["x"] - 0.3) ** 2, bv.Space({"x": bv.Float(0, 1)}), 6, seed=0)
    assert data.convergence(result).best[-1] == result.value


def test_what_is_no_study_is_refused() -> None:
    with pytest.raises(InvalidInput, match="an Optimizer, a Result, what read_study returned, or a path; got 3"):
        data.convergence(3)  # type: ignore[arg-type]


def test_a_custom_surrogate_that_a_path_cannot_restore_is_named_with_what_to_pass(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with mixed(path, surrogate=Mean(), strategy="kb") as study:
        assert len(data.slice(study)) == 5
    assert len(data.convergence(path).best) == len(study.trials) - 3
    assert len(data.evaluations(path).axes) == 5
    with pytest.raises(InvalidInput, match=r"Mean.*pass the optimizer, or bv.Optimizer.load\(path, surrogate=...,"):
        data.slice(path)
    loaded = bv.Optimizer.load(path, surrogate=Mean(), append=False)
    np.testing.assert_array_equal(data.slice(loaded)[0].mean, data.slice(study)[0].mean)


def test_a_constraint_is_not_needed_for_a_model(tmp_path: Path) -> None:
    space = bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 1)}, constraint=lambda p: p["x"] + p["y"] < 1.2)
    with bv.Optimizer(space, seed=0, journal=tmp_path / "study.jsonl") as study:
        for trial in study.ask(8):
            study.tell(trial, trial.params["x"] - trial.params["y"])
    source = data.study_of(tmp_path / "study.jsonl")
    assert source.replaced == ("constraint",)
    known, blind = data.surface(study, parameters=("x", "y")), data.surface(source, parameters=("x", "y"))
    allowed = np.isfinite(known.mean)
    assert 0 < allowed.sum() < allowed.size
    assert np.isfinite(blind.mean).all()
    np.testing.assert_allclose(known.mean[allowed], blind.mean[allowed])
    x, y = np.meshgrid(known.x.at, known.y.at)
    np.testing.assert_array_equal(allowed, x + y < 1.2)


def test_an_outcome_is_picked_by_name() -> None:
    source = data.study_of(limited())
    assert source.chosen(None) == "gain"
    assert data.slice(source, outcome="cost")[0].label == "cost"
    with pytest.raises(InvalidInput, match="outcome must be one of gain, cost; got 'loss'"):
        data.convergence(source, outcome="loss")


def test_values_are_frozen() -> None:
    found = data.convergence(one())
    with pytest.raises(FrozenInstanceError):
        found.label = "other"  # type: ignore[misc]


# Axes


def test_axes_are_what_parameters_can_do() -> None:
    axes = {axis.name: axis for axis in data.study_of(mixed()).axes}
    assert [axes["rate$"].is_log, axes["rate$"].is_number, axes["rate$"].is_discrete] == [True, True, False]
    np.testing.assert_allclose(axes["rate$"].at, np.geomspace(1e-4, 1.0, 101))
    np.testing.assert_allclose(axes["rate$"].rows[:, 0], np.linspace(0, 1, 101), atol=1e-12)
    assert axes["one"].is_constant
    assert axes["kind"].choices == KINDS_SHOWN
    assert axes["layers"].values == (1, 2, 3, 4)
    assert axes["layers"].is_whole
    np.testing.assert_allclose(axes["layers"].edges, [0.5, 1.5, 2.5, 3.5, 4.5])
    np.testing.assert_allclose(axes["step"].at, [0.0, 0.5, 1.0, 1.5, 2.0])
    np.testing.assert_allclose(axes["rate$"].edges[[0, -1]], [1e-4, 1.0])
    assert axes["kind"].position("tanh") == 1.0
    assert math.isnan(axes["kind"].position("gelu"))
    np.testing.assert_allclose(axes["rate$"].share(np.array([1e-4, 1e-2, 1.0])), [0.0, 0.5, 1.0])


KINDS_SHOWN = ("relu", "tanh", "$identity$")


def test_a_choice_of_many_shows_those_that_were_evaluated() -> None:
    space = bv.Space({"kind": bv.Categorical([f"kind {i}" for i in range(200)])})
    axis = data.axes_of(space, [{"kind": "kind 7"}, {"kind": "kind 151"}])[0]
    assert axis.values[:2] == ("kind 7", "kind 151")
    assert len(axis.values) == len(set(axis.values)) == 60


def test_a_long_grid_is_thinned_out_on_its_values() -> None:
    axis = data.axes_of(bv.Space({"k": bv.Int(1, 1000)}), most=11)[0]
    assert len(axis.values) == 11
    assert axis.is_whole
    assert (axis.values[0], axis.values[-1]) == (1, 1000)


# Convergence


def test_the_best_so_far_counts_results_within_the_limits() -> None:
    study = limited()
    found = data.convergence(study, target=5.0)
    best, expected = -math.inf, []
    for record in study.records():
        if record["status"] in ("done", "failed", "partial"):
            if record["status"] == "done" and record["cost"] <= 3.0:
                best = max(best, record["gain"])
            expected.append(best)
    np.testing.assert_array_equal(found.best, [math.nan if value == -math.inf else value for value in expected])
    assert found.maximize
    assert found.target == 5.0
    assert found.pending == 2
    assert study.best is not None
    assert found.best[-1] == study.best[1]


def test_batches_of_a_convergence_are_the_asks() -> None:
    study = mixed()
    found = data.convergence(study)
    covered = [i for span in found.spans for i in range(span.first, span.last + 1)]
    assert covered == found.count.tolist()
    assert found.spans[0].batch == 0  # from elsewhere
    assert max(span.batch for span in found.spans) == 4


def test_a_limited_outcome_has_limits_and_no_best() -> None:
    found = data.convergence(limited(), outcome="cost")
    assert found.limits == (-math.inf, 3.0)
    assert found.maximize is None
    assert np.isnan(found.best).all()


def test_several_objectives_converge_in_hypervolume() -> None:
    study = several()
    found = data.convergence(study)
    assert found.best[-1] == pytest.approx(study.hypervolume)
    assert (np.diff(found.best) >= 0.0).all()
    reference = study.front.reference
    assert reference is not None
    half = [o for i, o in sorted(study.outcomes.items()) if i < 6]
    Y = np.array([[o.objectives["f"], -o.objectives["g"]] for o in half if o.constraints["h"] >= 0.1])
    assert found.best[5] == pytest.approx(hypervolume(Y, np.array([reference["f"], -reference["g"]])))


def test_regret_is_the_distance_from_the_optimum() -> None:
    found = data.convergence(one(), optimum=-2.0)
    np.testing.assert_allclose(found.regret, found.best + 2.0)
    with pytest.raises(InvalidInput, match="pass optimum="):
        data.convergence(one()).regret  # noqa: B018


# Evaluations


def test_positions_are_the_values_of_the_trials() -> None:
    study = mixed()
    found = data.evaluations(study)
    names = [axis.name for axis in found.axes]
    assert names == ["blank", "rate$", "kind", "layers", "step"]  # one value is no axis
    for row, trial in enumerate(study.trials):
        assert found.at[row, 1] == trial.params["rate$"]
        assert KINDS_SHOWN[int(found.at[row, 2])] == trial.params["kind"]
    assert found.best is not None
    assert bowl(study.trials[found.best].params) == study.best[1]  # type: ignore[index]
    assert [counts.sum() for counts in found.counts] == [len(study.trials)] * 5
    assert ((found.share > -1e-9) & (found.share < 1.0 + 1e-9)).all()


def test_parameters_are_named_each_once() -> None:
    with pytest.raises(InvalidInput, match="a list of different names"):
        data.evaluations(mixed(), parameters="blank")
    with pytest.raises(InvalidInput, match="must be one of blank"):
        data.evaluations(mixed(), parameters=["color"])


# What the model expects


def test_a_slice_is_the_prediction_through_the_best() -> None:
    study = mixed()
    assert study.best is not None
    (found,) = data.slice(study, parameters=["rate$"])
    at = study.predict([{**study.best[0], "rate$": value} for value in found.axis.values])
    np.testing.assert_allclose(found.mean, at.mean, rtol=1e-9)
    assert found.through == study.best[0]
    assert (found.low <= found.mean).all()
    assert (found.mean <= found.high).all()
    assert found.best is not None
    assert found.nearness[found.best] == 1.0


def test_the_interval_of_a_slice_is_that_of_the_recommendation() -> None:
    study = one()
    (found,) = data.slice(study, through={"dose": 4.0})
    at = study.predict([{"dose": value} for value in found.axis.values])
    np.testing.assert_allclose(found.high - found.low, 2 * Z * at.std, rtol=1e-9)
    assert data.slice(study, through={"dose": 4.0})[0].axis.at[0] == 0.0


def test_a_partial_dependence_is_the_mean_over_points_with_the_variance_of_that_mean() -> None:
    source = data.study_of(limited(warp="none"))
    (found,) = data.partial_dependence(source, parameters=["x"], samples=32)
    points = source.cache.region.sample(32, source.cache.randomness(0, "plot"))
    model = source.learned("gain").model
    for place in (0, 50, 100):
        X = points.copy()
        X[:, 0] = found.axis.rows[place]
        joint = model.joint(X)  # type: ignore[attr-defined]
        std = math.sqrt(np.ones(32) @ joint.covariance @ np.ones(32)) / 32
        assert found.mean[place] == pytest.approx(-joint.mean.mean())
        assert found.high[place] - found.mean[place] == pytest.approx(Z * std)


def test_a_warped_partial_dependence_is_drawn_from_the_posterior() -> None:
    space = bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 1)})
    study = bv.Optimizer(space, seed=0, n_init=20)
    for trial in study.ask(20):
        study.tell(trial, math.exp(9.0 * trial.params["x"]) + trial.params["y"])
    source = data.study_of(study)
    learned = source.learned("value")
    assert learned.warp is not None
    (found,) = data.partial_dependence(source, parameters=["x"], samples=16)
    X = source.cache.region.sample(16, source.cache.randomness(0, "plot"))
    X[:, 0] = found.axis.rows[40]
    draws = learned.model.sample(X, 4000, np.random.default_rng(1))  # type: ignore[attr-defined]
    averages = learned.warp.inverse(draws.ravel()).reshape(draws.shape).mean(axis=1)
    assert found.mean[40] == pytest.approx(np.median(averages), rel=0.1)
    assert found.low[40] == pytest.approx(np.quantile(averages, 0.025), rel=0.3, abs=0.3)
    assert found.low[40] < found.mean[40] < found.high[40]


def test_a_model_without_covariances_gets_the_mean_of_the_pointwise_intervals() -> None:
    study = limited(surrogate=Mean(), strategy="kb")
    found = data.partial_dependence(study, parameters=["x"], samples=8)[0]
    values = np.array([o.objectives["gain"] for _, o in sorted(study.outcomes.items())])
    np.testing.assert_allclose(found.mean, values.mean())
    np.testing.assert_allclose(found.high - found.low, 2 * Z * (values.std() + 1e-6))


def test_a_surface_is_the_prediction_on_a_grid() -> None:
    study = mixed()
    assert study.best is not None
    found = data.surface(study, parameters=("layers", "kind"))
    assert found.mean.shape == (3, 4)
    for row, kind in enumerate(KINDS_SHOWN):
        at = study.predict([{**study.best[0], "kind": kind, "layers": k} for k in (1, 2, 3, 4)])
        np.testing.assert_allclose(found.mean[row], at.mean, rtol=1e-9)


def test_the_axes_of_a_surface_are_those_that_matter_and_not_those_with_the_shortest_lengthscales() -> None:
    study = bv.Optimizer(
        bv.Space({"idle": bv.Categorical(["a", "b"]), "x": bv.Float(0, 1), "y": bv.Float(0, 1)}), seed=0
    )
    for trial in study.ask(12):
        study.tell(trial, (trial.params["x"] - 0.4) ** 2 + 0.3 * trial.params["y"])
    found = data.surface(study)
    assert {found.x.name, found.y.name} == {"x", "y"}


def test_relevance_is_the_share_of_the_variance_that_goes_with_a_parameter() -> None:
    study = bv.Optimizer(bv.Space({name: bv.Float(0, 1) for name in "abc"}), seed=0)
    for trial in study.ask(40):
        study.tell(trial, 3.0 * trial.params["a"] + trial.params["b"])
    source = data.study_of(study)
    # Of a sum of independent parts: the variances 9/12 and 1/12 as shares of their sum.
    np.testing.assert_allclose(relevance_of(source, "value"), [0.9, 0.1, 0.0], atol=0.1)
    same = bv.Optimizer(study.space, seed=0)
    for trial in same.ask(5):
        same.tell(trial, 1.0)
    np.testing.assert_array_equal(relevance_of(data.study_of(same), "value"), 0.0)


def test_the_star_is_called_what_it_is() -> None:
    assert data.study_of(limited()).star == "best result"
    assert data.study_of(several()).star == "a result of the front"
    never = bv.Optimizer(SPACE_OF_TWO, outcomes={"f": bv.Minimize(), "g": bv.AtMost(-1.0)}, seed=0)
    first, *rest = never.ask(4)
    never.tell(first, {"f": 1.0})
    assert data.study_of(never).star == "best partial result"
    for trial in rest:
        never.tell(trial, {"f": 1.0, "g": 0.0})
    assert data.study_of(never).star == "best result, outside a limit"
    assert data.parallel_coordinates(never).star == data.surface(never).star == "best result, outside a limit"


SPACE_OF_TWO = bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 1)})


# Importance


def test_importance_by_lengthscales_is_the_share_of_their_inverses() -> None:
    source = data.study_of(limited())
    found = data.importance(source)
    scales = source.learned("gain").fit.lengthscales  # type: ignore[attr-defined]
    share = dict(zip(("x", "k"), (1.0 / scales) / (1.0 / scales).sum(), strict=True))
    np.testing.assert_allclose(found.values, [share[name] for name in found.names])
    assert list(found.values) == sorted(found.values, reverse=True)


def test_the_interval_of_a_lengthscale_ends_where_the_likelihood_dropped() -> None:
    source = data.study_of(limited())
    found = data.importance(source)
    model: Any = source.learned("gain").fit
    j = ("x", "k").index(found.names[0])
    inverse = 1.0 / model.lengthscales
    rest = inverse.sum() - inverse[j]
    for share, side in ((found.low[0], 1.0), (found.high[0], -1.0)):
        factor = inverse[j] * (1.0 - share) / (share * rest)  # share = (i/f) / (i/f + rest)
        scales = model.lengthscales.copy()
        scales[j] *= factor
        drop = model.log_evidence() - model.with_lengthscales(scales).log_evidence()
        at_the_end = math.exp(side * 4.0)
        assert drop == pytest.approx(1.92, abs=0.1) or factor == pytest.approx(at_the_end)


def test_importance_by_permutation_is_what_a_shuffle_costs() -> None:
    study = limited()
    source = data.study_of(study)
    found = data.importance(source, method="permutation", repeats=200)
    assert (found.low <= found.values).all()
    assert (found.values <= found.high).all()
    learned = source.learned("gain")
    rng, costs = np.random.default_rng(7), []
    for _ in range(200):
        X = learned.data.X.copy()
        X[:, 0] = rng.permutation(X[:, 0])
        costs.append(((learned.fit.predict(X).mean - learned.data.y) ** 2).mean())
    known = ((learned.fit.predict(learned.data.X).mean - learned.data.y) ** 2).mean()
    value = found.values[found.names.index("x")]
    assert value == pytest.approx((np.mean(costs) - known) / learned.data.y.var(), rel=0.15)


def test_a_parameter_that_the_model_does_not_use_has_no_importance() -> None:
    study = limited(surrogate=Mean(), strategy="kb")
    assert data.importance(study).method == "permutation"
    np.testing.assert_array_equal(data.importance(study).values, 0.0)
    with pytest.raises(MissingCapability, match='_Constant has no lengthscales; use method="permutation"'):
        data.importance(study, method="lengthscales")
    with pytest.raises(InvalidInput, match="method must be one of lengthscales, permutation"):
        data.importance(study, method="shap")


# Lies


def test_lies_are_what_the_strategy_tells_one_after_the_other() -> None:
    study = one()
    found = data.lies(study, 3)
    batch = study.ask(3)
    assert [step.lies for step in found.steps] == [0, 1, 2, 3]
    chosen = [step.next_at[0] for step in found.steps[:-1] if step.next_at is not None]
    np.testing.assert_allclose(chosen, [trial.params["dose"] for trial in batch])
    source = data.study_of(one())
    learned = source.learned("value")
    model: Any = learned.model
    rows = found.axes[0].rows
    for place, trial in enumerate(batch):
        step = found.steps[place]
        at = model.predict(rows)
        np.testing.assert_allclose(step.mean, at.mean, atol=1e-9)
        np.testing.assert_allclose(step.high - step.low, 2 * Z * at.std, atol=1e-9)
        best = min(learned.data.y.min(), *step.lie_values, math.inf)
        improvement = EI().pointwise(at.mean, at.std, best).value
        np.testing.assert_allclose(step.worth, improvement, rtol=1e-6, atol=1e-12)
        assert step.next_worth is not None
        assert step.next_worth >= np.nanmax(step.worth) - 1e-9
        lie = Believe().value(model, trial.encoded, learned.data, 1.0, np.random.default_rng(0))
        assert found.steps[place + 1].lie_values[-1] == pytest.approx(lie)
        model = model.condition(Data(trial.encoded[None, :], np.array([lie])))


def test_the_pending_batch_is_shown_if_there_is_one() -> None:
    study = limited()
    found = data.lies(study, 5)
    assert found.batch == "pending"
    assert found.steps[-1].lie_ids.tolist() == [trial.id for trial in study.pending]
    assert found.worth_label == "expected improvement × probability of feasibility"
    partial = study.pending[0].id
    assert math.isnan(found.steps[-1].lie_values[found.steps[-1].lie_ids.tolist().index(partial)])
    following = data.lies(study, 2, batch="next")
    assert following.steps[0].lies == 3
    assert [step.next_id for step in following.steps] == [15, 16, None]


def test_lies_of_a_space_with_more_parameters_are_a_slice_through_the_first_point() -> None:
    study = mixed()
    found = data.lies(study, 2)
    assert found.through is not None
    assert found.through["kind"] == study.pending[0].params["kind"]
    assert found.steps[0].next_nearness == pytest.approx(1.0)
    assert found.steps[0].mean.shape == (len(found.axes[1].at), len(found.axes[0].at))


def test_a_strategy_that_tells_no_lies_is_named() -> None:
    study = limited(strategy="thompson")
    with pytest.raises(InvalidInput, match=r'strategy of pseudo-observations; Thompson is not.*strategy="kb"'):
        data.lies(study)
    assert data.lies(study, 1, strategy="cl_min").steps[1].lies == 1
    with pytest.raises(InvalidInput, match='"pending" or "next"; got'):
        data.lies(study, batch="last", strategy="kb")
    with pytest.raises(InvalidInput, match="no trial is pending"):
        data.lies(one(), batch="pending")


# The front, feasibility, calibration


def test_the_front_is_that_of_the_study() -> None:
    study = several()
    (found,) = data.front(study)
    ids = found.ids[found.on_front]
    assert sorted(ids.tolist()) == sorted(point.trial.id for point in study.front)
    assert found.hypervolume == study.hypervolume
    assert found.maximize == (False, True)
    at = study.predict([study.trials[i].params for i in ids], "g")
    np.testing.assert_allclose(found.expected[:, 1], at.mean)
    np.testing.assert_allclose(found.high[:, 1] - found.low[:, 1], 2 * Z * at.std, rtol=1e-6)
    # The border of what is dominated: the area under it, up to the reference, is the hypervolume.
    assert found.reference is not None
    corners = np.vstack([found.reference, found.steps])
    x, y = corners.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    assert area == pytest.approx(study.hypervolume)


def test_a_front_needs_several_objectives() -> None:
    with pytest.raises(InvalidInput, match="a front needs several objectives"):
        data.front(one())
    with pytest.raises(InvalidInput, match="objectives must be two or more of f, g; got"):
        data.front(several(), objectives=["f", "h"])


def test_feasibility_is_the_product_of_probabilities() -> None:
    study = limited()
    found = data.feasibility(study, parameters=["k"])
    assert study.best is not None
    points = [{**study.best[0], "k": k} for k in range(6)]
    at = study.predict(points, "cost")
    # The model may have learned a warped cost: the probability is that of its own units.
    learned = data.study_of(study).learned("cost")
    if learned.warp is None:
        np.testing.assert_allclose(found.parts["cost"], norm.cdf((3.0 - at.mean) / at.std), rtol=1e-6)
    np.testing.assert_allclose(found.probability, found.parts["cost"] * found.parts["evaluation succeeds"])
    assert found.verdict.count("failed") == 2
    assert found.verdict.count("no result yet") == 3
    shown = data.feasibility(study)
    assert shown.probability.shape == (len(shown.axes[1].at), len(shown.axes[0].at))
    with pytest.raises(InvalidInput, match="needs an outcome with a limit"):
        data.feasibility(one())


def test_calibration_is_by_models_that_did_not_see_the_result() -> None:
    study = one()
    found = data.calibration(study)
    learned = data.study_of(study).learned("value")
    model: Any = learned.fit
    assert found.method == "leave-one-out, closed form"
    for i in range(len(found.ids)):
        rest = np.arange(len(found.ids)) != i
        K = model.hyper.cross(learned.data.X, learned.data.X)[0]
        K += np.diag(np.full(len(K), model.hyper.noise))
        y = (learned.data.y - model.shift) / model.scale
        k = K[i, rest]
        mean = k @ np.linalg.solve(K[np.ix_(rest, rest)], y[rest])
        var = model.hyper.signal - k @ np.linalg.solve(K[np.ix_(rest, rest)], k)
        assert found.mean[i] == pytest.approx(model.shift + model.scale * mean, rel=1e-5, abs=1e-6)
        assert found.high[i] - found.mean[i] == pytest.approx(Z * model.scale * math.sqrt(var), rel=1e-3)
    within = [(np.abs(found.z) <= norm.ppf(0.5 + 0.5 * level)).mean() for level in found.levels]
    np.testing.assert_allclose(found.coverage, within)
    assert found.rmse == pytest.approx(np.sqrt(((found.mean - found.observed) ** 2).mean()))


def test_calibration_of_any_model_is_by_fits_without_a_part() -> None:
    study = limited(surrogate=Mean(), strategy="kb")
    found = data.calibration(study)
    values = found.observed
    means = [np.delete(values, i).mean() for i in range(len(values))]
    np.testing.assert_allclose(found.mean, means)
    assert found.method == f"cross-validation in {len(values)} parts"
    young = bv.Optimizer(bv.Space({"x": bv.Float(0, 1)}), seed=0)
    young.observe({"x": 0.1}, 1.0)
    with pytest.raises(InvalidInput, match="needs at least 4 results"):
        data.calibration(young)


# Diversity, timeline


def test_diversity_is_measured_in_the_cube() -> None:
    study = limited()
    found = data.diversity(study)
    assert found.batch.tolist() == [1, 2, 3, 4, 5]
    X = np.array([trial.encoded for trial in study.trials])
    for i in range(5):
        batch = X[3 * i : 3 * i + 3]
        gaps = [math.dist(a, b) for k, a in enumerate(batch) for b in batch[:k]]
        assert found.least[i] == pytest.approx(min(gaps) / math.sqrt(2.0))
        assert found.mean[i] == pytest.approx(np.mean(gaps) / math.sqrt(2.0))
        if i:
            nearest = [min(math.dist(a, b) for b in X[: 3 * i]) for a in batch]
            assert found.before[i] == pytest.approx(np.mean(nearest) / math.sqrt(2.0))
    assert math.isnan(found.before[0])
    assert (found.random_low < found.random_middle).all()
    assert (found.random_middle < found.random_high).all()
    with pytest.raises(InvalidInput, match="needs a batch of two points"):
        data.diversity(one())


def test_a_timeline_has_the_times_of_asks_and_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("believer.optimizer.time.time", lambda: now[0])
    path = tmp_path / "study.jsonl"
    with bv.Optimizer(bv.Space({"x": bv.Float(0, 1)}), seed=0, journal=path) as study:
        a, b = study.ask(2)
        now[0] = 1010.0
        study.tell(b, 1.0)
        (c,) = study.ask(1)
        now[0] = 1030.0
        study.tell(a, error="exploded")
        now[0] = 1040.0
        study.enqueue({"x": 0.5})
        study.abandon(c)
        study.ask(1)
    for source in (study, path):
        found = data.timeline(source)
        assert found.is_timed
        assert found.origin == 1000.0
        np.testing.assert_array_equal(found.begin, [0.0, 0.0, 10.0, 40.0])
        np.testing.assert_array_equal(found.end, [30.0, 10.0, 40.0, 40.0])
        assert found.lane.tolist() == [0, 1, 1, 0]
        assert found.status == ("failed", "done", "abandoned", "pending")
        np.testing.assert_array_equal(found.busy_at, [0.0, 10.0, 30.0, 40.0])
        assert found.busy.tolist() == [2, 2, 1, 0]
        assert found.utilization == pytest.approx(70.0 / 80.0)
    assert bv.replay(path).asks > 0


def test_a_slot_holds_one_trial_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("believer.optimizer.time.time", lambda: now[0])
    study = bv.Optimizer(bv.Space({"x": bv.Float(0, 1)}), seed=0)
    for trial in study.ask(3):  # handed out together, and evaluated in no time
        study.tell(trial, 1.0)
    now[0] = 1010.0
    first, _ = study.ask(2)
    now[0] = 1020.0
    study.tell(first, 1.0)
    study.ask(1)  # the second of the two is pending and keeps its slot
    assert data.timeline(study).lane.tolist() == [0, 1, 2, 0, 1, 0]


def test_a_study_from_before_times_were_written_is_shown_by_its_events() -> None:
    path = sorted((Path(__file__).parents[1] / "journals" / "format3").glob("*.jsonl"))[0]
    found = data.timeline(path)
    assert not found.is_timed
    assert math.isnan(found.origin)
    assert (found.end >= found.begin).all()


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[1] / "journals").glob("format*/*.jsonl")),
    ids=lambda p: p.parent.name + p.stem,
)
def test_journals_of_every_format_can_be_looked_at(path: Path) -> None:
    source = data.study_of(path)
    assert len(data.evaluations(source).ids) == len(source.trials)
    assert len(data.convergence(source).count) > 0
    assert len(data.slice(source)) > 0


@pytest.mark.parametrize(
    "figure",
    [
        data.calibration,
        data.convergence,
        data.diversity,
        data.evaluations,
        data.feasibility,
        data.importance,
        data.lies,
        data.parallel_coordinates,
        data.partial_dependence,
        data.slice,
        data.surface,
        data.timeline,
    ],
    ids=lambda figure: figure.__name__,
)
def test_a_study_without_a_result_is_refused_in_one_sentence(figure: Any) -> None:
    with pytest.raises(InvalidInput, match=r"need|goes through"):
        figure(bv.Optimizer(bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 1)}), seed=0))
