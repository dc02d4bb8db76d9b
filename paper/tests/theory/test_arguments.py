"""Bad arguments are refused in our own words, by every public function of the room; lists and no points are fine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from believer.acquisitions import EI, PI
from believer.arrays import Array
from believer.batch import Believe, Data
from believer.errors import InvalidInput, MissingCapability
from believer.problems.synthetic import branin
from believer.surrogates import GP, MQRBF, FixedRBF, LastLayer, RandomForest, SparseGP
from believer.surrogates.gp import posterior
from believer.surrogates.protocols import Surrogate
from believer_paper import theory
from believer_paper.setup.multiquadric import PrintedMQRBF
from believer_paper.theory import Situation, arguments

POINTS = np.random.default_rng(0).random((8, 2))
DATA = Data(POINTS, branin(POINTS))
MODEL = GP().fit(Data(DATA.X, DATA.y), np.random.default_rng(0))
SITUATION = Situation(MODEL, EI(), Believe(), DATA)
X = np.array([0.4, 0.6])
AT = np.array([[0.1, 0.2], [0.9, 0.3], [0.4, 0.6]])
NAN, INF = math.nan, math.inf

OF_A_POINT: dict[str, Callable[[Any, Any], object]] = {
    "rank_one": lambda m, x: theory.rank_one(m, x, 1.0, AT, 0.1),
    "conditioned": lambda m, x: theory.conditioned(m, x, 1.0, AT),
    "mean_shift": lambda m, x: theory.mean_shift(m, x, AT),
    "improvement_change": lambda m, x: theory.improvement_change(m, x, 1.0, AT, 0.0, 0.1),
    "log_penalty": lambda m, x: theory.log_penalty(m, x, AT, 0.0, 0.1),
    "kappa": theory.kappa,
    "suppression": theory.suppression,
    "exact_radius": lambda m, x: theory.exact_radius(m, x, 0.5, np.eye(2)),
    "penalty": lambda m, x: theory.penalty(m, x, AT, 0.0),
    "printed_penalty": lambda m, x: theory.printed_penalty(m, x, AT),
    "restandardized": lambda m, x: theory.restandardized(m, DATA, x, 1.0),
}
OF_POINTS: dict[str, Callable[[Any, Any], Any]] = {
    "rank_one": lambda m, at: theory.rank_one(m, X, 1.0, at, 0.1).variance_after,
    "conditioned": lambda m, at: theory.conditioned(m, X, 1.0, at).mean,
    "mean_shift": lambda m, at: theory.mean_shift(m, X, at),
    "improvement_change": lambda m, at: theory.improvement_change(m, X, 1.0, at, 0.0, 0.1).exact,
    "log_penalty": lambda m, at: theory.log_penalty(m, X, at, 0.0, 0.1).determinant,
    "penalty": lambda m, at: theory.penalty(m, X, at, 0.0).exact,
    "printed_penalty": lambda m, at: theory.printed_penalty(m, X, at),
}
OF_A_BATCH: dict[str, Callable[[Any, Any], float]] = {
    "log_determinant": theory.log_determinant,
    "log_chain": theory.log_chain,
}
BAD_POINTS = [X[None], 0.4, [0.4], np.array([0.4]), [0.4, 0.6, 0.1], [], [0.4, NAN], [INF, 0.4], ["a", "b"], None]
BAD_TABLES = [X, 0.4, AT[:, :1], np.hstack([AT, AT]), [], [[0.1, NAN]], [[0.1], [0.2, 0.3]], AT[None], "points", None]
JOINT = {"rank_one", "improvement_change", "log_penalty"}
OF_A_PROCESS = {"kappa", "suppression", "exact_radius", "penalty", "printed_penalty", "restandardized"}


def fitted(recipe: Surrogate) -> Any:
    return recipe.fit(Data(DATA.X, DATA.y), np.random.default_rng(0))


OTHER_KINDS: tuple[Surrogate, ...] = (MQRBF(), FixedRBF(), LastLayer())


def test_a_point_of_another_shape_or_not_finite_is_refused() -> None:
    for name in OF_A_POINT:
        for x in BAD_POINTS:
            a_point_of_another_shape_or_not_finite_is_refused(name, x)


def a_point_of_another_shape_or_not_finite_is_refused(name: str, x: object) -> None:
    with pytest.raises(InvalidInput, match=r"^x must"):
        OF_A_POINT[name](MODEL, x)


def test_a_point_to_tell_or_to_believe_at_is_checked_too() -> None:
    for x in BAD_POINTS:
        a_point_to_tell_or_to_believe_at_is_checked_too(x)


def a_point_to_tell_or_to_believe_at_is_checked_too(x: object) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match=r"^x must"):
        theory.lie_about(SITUATION, x, rng)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"must"):
        theory.believe(GP(), DATA, x, AT, rng)  # type: ignore[arg-type]


def test_points_of_another_shape_or_not_finite_are_refused() -> None:
    for name in OF_POINTS:
        for at in BAD_TABLES:
            points_of_another_shape_or_not_finite_are_refused(name, at)


def points_of_another_shape_or_not_finite_are_refused(name: str, at: object) -> None:
    with pytest.raises(InvalidInput, match=r"^at must"):
        OF_POINTS[name](MODEL, at)


def test_a_batch_of_another_shape_or_not_finite_is_refused() -> None:
    for name in OF_A_BATCH:
        for batch in BAD_TABLES:
            a_batch_of_another_shape_or_not_finite_is_refused(name, batch)


def a_batch_of_another_shape_or_not_finite_is_refused(name: str, batch: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^X must"):
        OF_A_BATCH[name](MODEL, batch)


def test_a_list_is_as_good_as_an_array_for_a_point() -> None:
    for name in OF_A_POINT:
        a_list_is_as_good_as_an_array_for_a_point(name)


def a_list_is_as_good_as_an_array_for_a_point(name: str) -> None:
    OF_A_POINT[name](MODEL, X.tolist())


def test_a_list_of_lists_gives_what_an_array_of_points_gives() -> None:
    for name in OF_POINTS:
        a_list_of_lists_gives_what_an_array_of_points_gives(name)


def a_list_of_lists_gives_what_an_array_of_points_gives(name: str) -> None:
    np.testing.assert_array_equal(OF_POINTS[name](MODEL, AT.tolist()), OF_POINTS[name](MODEL, AT))


def test_no_points_give_no_values() -> None:
    for name in OF_POINTS:
        no_points_give_no_values(name)


def no_points_give_no_values(name: str) -> None:
    assert OF_POINTS[name](MODEL, np.zeros((0, 2))).shape == (0,)


def test_an_empty_batch_has_determinant_one_and_no_rays_have_no_radii() -> None:
    none = np.zeros((0, 2))
    assert theory.log_determinant(MODEL, none) == theory.log_chain(MODEL, none) == 0.0
    assert theory.exact_radius(MODEL, X, 0.5, none).shape == (0,)


def test_believing_needs_a_point_to_compare_at_and_results() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="at least 1 row;"):
        theory.believe(GP(), DATA, X, np.zeros((0, 2)), rng)
    with pytest.raises(InvalidInput, match="at least one observation"):
        theory.believe(GP(), Data(np.zeros((0, 2)), np.zeros(0)), X, AT, rng)
    with pytest.raises(InvalidInput, match="Data"):
        theory.restandardized(MODEL, (DATA.X, DATA.y), X, 0.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"data\.X must have 2 columns"):
        theory.restandardized(MODEL, Data(DATA.X[:, :1], DATA.y), X, 0.0)


def test_the_shift_over_the_spread_of_equal_results_is_not_a_number() -> None:
    found = theory.believe(GP(), Data(DATA.X, np.full(8, 3.0)), X, AT, np.random.default_rng(0))
    assert all(math.isnan(shift) for shift in found.shifts.values())


NUMBERS: dict[str, Callable[[Any], object]] = {
    "lie": lambda v: theory.rank_one(MODEL, X, v, AT),
    "lie of conditioned": lambda v: theory.conditioned(MODEL, X, v, AT),
    "lie of improvement_change": lambda v: theory.improvement_change(MODEL, X, v, AT, 0.0),
    "lie of restandardized": lambda v: theory.restandardized(MODEL, DATA, X, v),
    "incumbent": lambda v: theory.penalty(MODEL, X, AT, v),
    "incumbent of improvement_change": lambda v: theory.improvement_change(MODEL, X, 1.0, AT, v),
    "incumbent of log_penalty": lambda v: theory.log_penalty(MODEL, X, AT, v),
    "incumbent of monotonicity": lambda v: theory.monotonicity(EI(), v),
    "incumbent of exact_sign": lambda v: theory.exact_sign(PI(), np.zeros(1), v),
}
VARIANCES: dict[str, Callable[[Any], object]] = {
    "noise of rank_one": lambda v: theory.rank_one(MODEL, X, 1.0, AT, v),
    "noise of log_determinant": lambda v: theory.log_determinant(MODEL, AT, v),
    "noise of log_chain": lambda v: theory.log_chain(MODEL, AT, v),
    "noise of log_penalty": lambda v: theory.log_penalty(MODEL, X, AT, 0.0, v),
    "noise of printed_radius": lambda v: theory.printed_radius(0.5, 0.5, v),
    "noise of guaranteed_radius": lambda v: theory.guaranteed_radius(0.5, 0.5, v),
    "noise": lambda v: theory.variance_at_the_point(1.0, v),
    "variance": lambda v: theory.variance_at_the_point(v, 0.0),
}
SHARES: dict[str, Callable[[Any], object]] = {
    "kappa of printed_radius": lambda v: theory.printed_radius(v, 0.5),
    "kappa of guaranteed_radius": lambda v: theory.guaranteed_radius(v, 0.5),
    "tau of printed_radius": lambda v: theory.printed_radius(0.5, v),
    "tau of guaranteed_radius": lambda v: theory.guaranteed_radius(0.5, v),
    "tau of exact_radius": lambda v: theory.exact_radius(MODEL, X, v, np.eye(2)),
    "tau of suppression": lambda v: theory.suppression(MODEL, X, v),
}
LENGTHS: dict[str, Callable[[Any], object]] = {
    "scale of monotonicity": lambda v: theory.monotonicity(EI(), 0.0, v),
    "reach of exact_radius": lambda v: theory.exact_radius(MODEL, X, 0.5, np.eye(2), v),
}


def test_a_number_must_be_one_and_finite() -> None:
    for name in NUMBERS | VARIANCES | SHARES | LENGTHS:
        for value in [NAN, INF, "1", [1.0, 2.0]]:
            a_number_must_be_one_and_finite(name, value)


def a_number_must_be_one_and_finite(name: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=f"^{name.split()[0]} must be a finite number"):
        (NUMBERS | VARIANCES | SHARES | LENGTHS)[name](value)


def test_a_variance_below_zero_is_refused_and_zero_is_not() -> None:
    for name in VARIANCES:
        a_variance_below_zero_is_refused_and_zero_is_not(name)


def a_variance_below_zero_is_refused_and_zero_is_not(name: str) -> None:
    with pytest.raises(InvalidInput, match="zero or more; got -1"):
        VARIANCES[name](-1)
    VARIANCES[name](0)


def test_a_share_outside_zero_to_one_is_refused_and_one_is_not() -> None:
    for name in SHARES:
        for value in [-1.0, 0.0, 1.0 + 1e-9, 2.0]:
            a_share_outside_zero_to_one_is_refused_and_one_is_not(name, value)


def a_share_outside_zero_to_one_is_refused_and_one_is_not(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=r"in \(0, 1\]"):
        SHARES[name](value)
    SHARES[name](1)


def test_a_length_must_be_above_zero() -> None:
    for name in LENGTHS:
        for value in [-1.0, 0.0]:
            a_length_must_be_above_zero(name, value)


def a_length_must_be_above_zero(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match="above zero"):
        LENGTHS[name](value)


def test_kappa_is_never_above_one_however_far_the_data_are() -> None:
    signals = np.linspace(0.1, 10.0, 40)
    models = [posterior(replace(MODEL.hyper, signal=float(s)), DATA.X, DATA.y, 0.0, 1.0 / float(s)) for s in signals]
    far = np.array([60.0, 50.0])
    beyond = [(m.predict(far[None]).std[0] / m.scale) ** 2 / m.hyper.signal > 1.0 for m in models]
    assert any(beyond), "rounding does exceed one"
    for model in models:
        assert 1.0 - 1e-12 < theory.suppression(model, far).kappa <= 1.0


def test_the_ratio_of_improvements_takes_numbers_lists_and_shapes_that_broadcast() -> None:
    assert float(theory.improvement_ratio(0, 0.5)) == pytest.approx(0.5, rel=1e-12)
    found = theory.improvement_ratio([-40.0, 0.0, 2.0], [[0.5], [1.0]])
    one_by_one = [[float(theory.improvement_ratio(z, r)) for z in (-40.0, 0.0, 2.0)] for r in (0.5, 1.0)]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-14)


@pytest.mark.parametrize(
    ("z", "ratio"), [(NAN, 0.5), (INF, 0.5), (0.0, NAN), (0.0, 0.0), (0.0, -1.0), ("z", 0.5), ([0.0] * 2, [0.5] * 3)]
)
def test_the_ratio_of_improvements_refuses_what_is_no_ratio(z: Any, ratio: Any) -> None:
    with pytest.raises(InvalidInput, match="must"):
        theory.improvement_ratio(z, ratio)


def test_the_local_penalty_takes_numbers_and_lists_and_refuses_nan() -> None:
    assert theory.local_penalty([0.0, INF]).tolist() == [0.0, 1.0]
    assert float(theory.local_penalty(1.0)) == pytest.approx(1.0 - math.exp(-0.5))
    with pytest.raises(InvalidInput, match="distance"):
        theory.local_penalty([0.0, NAN])


def test_the_exact_sign_takes_a_list_of_means_and_refuses_nan() -> None:
    assert theory.exact_sign(PI(), [-1.0, 1.0], 0.0).tolist() == [-1, 1]  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="mean must be finite"):
        theory.exact_sign(PI(), np.array([NAN]), 0.0)


def test_functions_of_hyperparameters_name_the_gaussian_process_to_models_without_them() -> None:
    for name in sorted(OF_A_PROCESS):
        for recipe in OTHER_KINDS:
            functions_of_hyperparameters_name_the_gaussian_process_to_models_without_them(name, recipe)


def functions_of_hyperparameters_name_the_gaussian_process_to_models_without_them(name: str, recipe: Surrogate) -> None:
    with pytest.raises(MissingCapability, match=r"\bGP\b"):
        OF_A_POINT[name](fitted(recipe), X)


def test_other_models_that_can_be_conditioned_are_served_and_know_their_columns() -> None:
    for name in sorted(set(OF_A_POINT) - OF_A_PROCESS):
        for recipe in OTHER_KINDS:
            other_models_that_can_be_conditioned_are_served_and_know_their_columns(name, recipe)


def other_models_that_can_be_conditioned_are_served_and_know_their_columns(name: str, recipe: Surrogate) -> None:
    model = fitted(recipe)
    assert arguments.columns(model) == 2
    OF_A_POINT[name](model, X)
    with pytest.raises(InvalidInput, match=r"shape \(2,\); got shape \(3,\)"):
        OF_A_POINT[name](model, np.zeros(3))


class Forest:
    """Trees without scikit-learn: predictions, and nothing else."""

    def predict(self, X: Array) -> object:
        return MODEL.predict(X)


def test_a_model_that_only_predicts_lacks_the_capability() -> None:
    for name in [*OF_A_POINT, *OF_A_BATCH]:
        a_model_that_only_predicts_lacks_the_capability(name)


def a_model_that_only_predicts_lacks_the_capability(name: str) -> None:
    with pytest.raises(MissingCapability, match=r"got Forest\b.*\bGP\b"):
        (OF_A_POINT | OF_A_BATCH)[name](Forest(), AT if name in OF_A_BATCH else X)


def test_a_random_forest_lacks_the_capability() -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(MissingCapability, match="ForestModel"):
        theory.rank_one(fitted(RandomForest()), X, 0.0, AT)


@pytest.mark.parametrize("name", sorted(JOINT))
def test_covariances_are_asked_of_a_model_that_has_none(name: str) -> None:
    with pytest.raises(MissingCapability, match=r"joint\(X\)"):
        OF_A_POINT[name](fitted(PrintedMQRBF()), X)


@pytest.mark.parametrize("recipe", [MQRBF(), SparseGP(), None], ids=repr)
def test_believing_compares_ways_to_update_the_exact_process_only(recipe: Any) -> None:
    with pytest.raises(MissingCapability, match=r"\bGP\b"):
        theory.believe(recipe, DATA, X, AT, np.random.default_rng(0))


def test_a_sparse_process_says_its_noise_and_is_no_exact_one() -> None:
    model = fitted(SparseGP(noise=0.01))
    noise = theory.observation_noise(model)
    assert noise == pytest.approx(model.hyper.noise * model.scale**2)
    assert noise > 0.0
    assert theory.rank_one(model, X, 0.0, AT).denominator == theory.rank_one(model, X, 0.0, AT, noise).denominator
    assert 0.0 < theory.kappa(model, X) <= 1.0
    assert np.isfinite(theory.penalty(model, X, AT, 0.0).exact).all()
    with pytest.raises(MissingCapability, match="exact Gaussian process; got SparseGPModel"):
        theory.suppression(model, X)
