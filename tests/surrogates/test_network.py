from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import off_kinks, same_networks, slopes, unit_data, unit_smooth

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.surrogates import network
from believer.surrogates.network import DEFAULTS, Networks, Training, checked_hidden, held_out, seeds_of, train

shapes = st.sampled_from([(1,), (7,), (5, 4), (64, 64), (3, 6, 2)])


def seeds(count: int, seed: int = 0) -> Any:
    return seeds_of(count, np.random.default_rng(seed))


def untrained(d: int, hidden: tuple[int, ...], count: int = 3, seed: int = 0) -> Networks:
    return train(*unit_data(1, d), seeds(count, seed), hidden, Training(max_iterations=1))


# The forward pass and its derivatives


@settings(max_examples=10)
@given(st.integers(1, 7), shapes, st.integers(0, 2**32))
def test_all_networks_at_once_are_each_network_by_itself(d: int, hidden: tuple[int, ...], seed: int) -> None:
    networks = untrained(d, hidden, seed=seed)
    X = np.random.default_rng(seed).random((4, d))
    together = networks.outputs(X)
    for i in range(3):
        for x, output in zip(X, together[i], strict=True):
            h = 2.0 * x - 1.0
            for W, b in zip(networks.weights[:-1], networks.biases[:-1], strict=True):
                h = np.maximum(h @ W[i] + b[i, 0], 0.0)
            assert output == pytest.approx(
                float((h @ networks.weights[-1][i] + networks.biases[-1][i, 0])[0]), rel=1e-12
            )


@settings(max_examples=15)
@given(st.integers(1, 7), shapes, st.integers(0, 2**32))
def test_gradients_of_outputs_and_the_jacobian_of_features_are_central_differences(
    d: int, hidden: tuple[int, ...], seed: int
) -> None:
    networks = untrained(d, hidden, seed=seed)
    X = np.random.default_rng(seed).random((40, d))
    X = X[off_kinks(networks, X, 1e-6)]
    assert len(X) >= 30
    outputs, gradients = networks.outputs_with_gradient(X)
    np.testing.assert_array_equal(outputs, networks.outputs(X))
    numeric = slopes(lambda at: networks.outputs(at)[:, :, None], X, 1e-6)[:, :, 0]
    np.testing.assert_allclose(gradients, numeric, rtol=0.0, atol=1e-7 * np.abs(gradients).max(initial=1.0))

    features = slopes(lambda at: networks.hidden(at)[-1], X, 1e-6)
    layers = networks.hidden(X)
    for unit, row in enumerate(np.eye(hidden[-1])):
        pulled = networks.pull_back(layers, np.broadcast_to(row, layers[-1].shape))
        np.testing.assert_allclose(
            pulled, features[:, :, unit], rtol=0.0, atol=1e-7 * np.abs(features).max(initial=1.0)
        )


def test_at_the_center_of_a_kink_the_gradient_is_finite_and_that_of_one_side() -> None:
    W, b = np.ones((1, 1, 1)), np.zeros((1, 1, 1))
    kink = Networks((W, W), (b, b))
    at = np.array([[0.5 - 1e-9], [0.5], [0.5 + 1e-9]])
    np.testing.assert_allclose(kink.outputs_with_gradient(at)[1][0, :, 0], [0.0, 0.0, 2.0])


# Training


def textbook(X: Array, y: Array, seed: Any, hidden: tuple[int, ...], iterations: int) -> Array:
    """The best θ of Adam as [Kingma2015] prints it, one network at a time, gradients by complex steps."""
    sizes = (X.shape[1], *hidden, 1)
    theta = network.initial(seed, sizes)[0]
    out = held_out(seed, len(y))[0]
    watched = out if out.any() else ~out

    def squares(theta: Any) -> Any:
        h, at = 2.0 * X - 1.0, 0
        for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
            W = theta[at : at + fan_in * fan_out].reshape(fan_in, fan_out)
            at += fan_in * fan_out
            h = h @ W + theta[at : at + fan_out]
            at += fan_out
            h = h * (h.real > 0.0) if i < len(hidden) else h
        return (h[:, 0] - y) ** 2

    best: Array = theta
    least = np.inf
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for t in range(1, iterations + 1):
        error = squares(theta)[watched].mean()
        if error < least:
            best, least = theta, error
        g = np.array([squares(theta + 1e-20j * e)[~out].mean().imag / 2e-20 for e in np.eye(len(theta))])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        theta = theta - 5e-3 * (m / (1.0 - 0.9**t)) / (np.sqrt(v / (1.0 - 0.999**t)) + 1e-8)
    return best


@pytest.mark.parametrize("n", [1, 4, 25])
@pytest.mark.parametrize("hidden", [(5,), (4, 3)])
def test_training_is_adam_on_half_the_squared_error_of_what_is_not_held_out(n: int, hidden: tuple[int, ...]) -> None:
    X, y = unit_data(n, 2)
    own = seeds(4)
    trained = train(X, y, own, hidden, Training(max_iterations=40))
    for i in range(4):
        parts = [part[i].ravel() for pair in zip(trained.weights, trained.biases, strict=True) for part in pair]
        np.testing.assert_allclose(np.concatenate(parts), textbook(X, y, own[i : i + 1], hidden, 40), atol=1e-9)


@pytest.mark.parametrize("n", [5, 40])
def test_the_error_to_stop_by_never_rises_with_more_iterations_and_falls_far(n: int) -> None:
    X, y = unit_data(n, 3)
    own = seeds(6)
    out = held_out(own, n)
    watched = np.where(out.any(axis=1, keepdims=True), out, ~out)

    def errors(iterations: int) -> Array:
        squares = (train(X, y, own, (32, 32), Training(max_iterations=iterations)).outputs(X) - y) ** 2
        mean: Array = (squares * watched).sum(axis=1) / watched.sum(axis=1)
        return mean

    course = np.array([errors(k) for k in (1, 5, 25, 125, 625)])
    assert (np.diff(course, axis=0) <= 0.0).all()
    assert course[-1].mean() < 0.1 * course[0].mean()


@pytest.mark.parametrize("n", [3, 30])
def test_networks_trained_together_are_those_trained_alone(n: int) -> None:
    X, y = unit_data(n, 4)
    own = seeds(5)
    together = train(X, y, own, (16, 16))
    for i in range(5):
        alone = train(X, y, own[i : i + 1], (16, 16))
        for one, every in zip((*alone.weights, *alone.biases), (*together.weights, *together.biases), strict=True):
            np.testing.assert_array_equal(one[0], every[i])


def test_a_network_that_has_stopped_is_left_alone_while_others_train_on() -> None:
    # Three observations are all trained on, so that a network that still trains still changes its best weights.
    X, y = unit_data(3, 4)
    own = seeds(8)
    ends = train(X, y, own, (16, 16))
    finished = np.array(
        [
            [same_networks(ends, cut, i) for i in range(8)]
            for cut in (train(X, y, own, (16, 16), Training(max_iterations=k)) for k in range(150, 451, 25))
        ]
    )
    assert (np.diff(finished.astype(int), axis=0) >= 0).all()
    assert (finished.any(axis=1) & ~finished.all(axis=1)).any()


def test_a_network_that_cannot_gain_stops_by_itself() -> None:
    # All inputs are the same point: the best that can be done is the mean, an error of 2/3.
    X, y, own = np.zeros((3, 2)), np.array([-1.0, 0.0, 1.0]), seeds(3)

    def end(patience: int, iterations: int) -> Networks:
        # At a constant rate, lest the steps become so small that it looks like a stop.
        return train(X, y, own, (8,), Training(patience=patience, slowdown=1.0, max_iterations=iterations))

    assert same_networks(end(7, 300), end(7, 600))
    assert not same_networks(end(10_000, 300), end(10_000, 600))
    np.testing.assert_allclose(end(7, 300).outputs(X), 0.0, atol=0.05)


def test_the_learning_rate_falls_once_nothing_was_gained_for_long_enough() -> None:
    X, y = unit_data(40, 3)

    def end(slowdown: float, iterations: int) -> Networks:
        return train(X, y, seeds(4), (16,), Training(patience=10, slowdown=slowdown, max_iterations=iterations))

    assert same_networks(end(5.0, 10), end(1.0, 10))
    assert not same_networks(end(5.0, 1000), end(1.0, 1000))


@pytest.mark.parametrize("d", [1, 2])
def test_a_smooth_function_is_learned(d: int) -> None:
    at = np.random.default_rng(99).random((500, d))
    truth = unit_smooth(at)
    for seed in range(5):
        mean = train(*unit_data(40, d, seed), seeds(5, seed), (64, 64)).outputs(at).mean(axis=0)
        assert 1.0 - ((mean - truth) ** 2).mean() / truth.var() > 0.9


def test_defaults_are_the_settings_of_the_paper() -> None:
    assert DEFAULTS.max_iterations == 2000


# Draws


@settings(max_examples=25)
@given(st.integers(0, 120), st.integers(0, 120), st.integers(0, 2**32))
def test_whether_an_observation_is_held_out_does_not_depend_on_how_many_there_are(n: int, more: int, seed: int) -> None:
    own = seeds(4, seed)
    np.testing.assert_array_equal(held_out(own, n), held_out(own, n + more)[:, :n])


@settings(max_examples=25)
@given(st.integers(0, 120), st.integers(0, 2**32))
def test_of_five_none_is_held_out_and_of_every_ten_that_follow_one(n: int, seed: int) -> None:
    out = held_out(seeds(4, seed), n)
    assert not out[:, :5].any()
    full = (n - 5) // 10 if n > 5 else 0
    assert (out[:, 5 : 5 + 10 * full].reshape(4, full, 10).sum(axis=2) == 1).all()
    assert (out[:, 5 + 10 * full :].sum(axis=1) <= 1).all()


def test_networks_hold_out_different_observations() -> None:
    assert len(np.unique(held_out(seeds(10), 50), axis=0)) == 10


def test_initial_weights_depend_on_the_seed_alone() -> None:
    one, other = unit_data(1, 3), unit_data(50, 3, seed=1)
    first = train(*one, seeds(4), (8, 8), Training(max_iterations=1))
    assert same_networks(first, train(*other, seeds(4), (8, 8), Training(max_iterations=1)))
    assert not same_networks(first, train(*one, seeds(4, 1), (8, 8), Training(max_iterations=1)))
    W = first.weights[0]
    assert not np.array_equal(W[0], W[1])


def test_initial_values_keep_their_size_from_layer_to_layer() -> None:
    networks = untrained(6, (256, 256, 256), count=5)
    X = np.random.default_rng(0).random((50, 6))
    sizes = [float((H**2).mean()) for H in networks.hidden(X)]
    # E[max(z, 0)²] = E[z²]/2 and weights of variance 2/fan-in: only biases, of variance 1/(3 fan-in), are added.
    assert max(sizes) < 1.5 * min(sizes)
    assert float((networks.outputs(X) ** 2).mean()) == pytest.approx(sizes[-1], rel=0.5)


def test_a_fixed_seed_overrides_the_generator() -> None:
    a, b = np.random.default_rng(0), np.random.default_rng(1)
    np.testing.assert_array_equal(seeds_of(5, a, 7), seeds_of(5, b, 7))
    np.testing.assert_array_equal(seeds_of(3, a, 7), seeds_of(5, b, 7)[:3])
    assert not np.array_equal(seeds_of(5, a), seeds_of(5, b))
    assert not np.array_equal(seeds_of(5, a, 7), seeds_of(5, b, 8))


def test_weights_cannot_be_written_to() -> None:
    networks = train(*unit_data(12, 2), seeds(2), (4,), Training(max_iterations=5))
    for part in (*networks.weights, *networks.biases):
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 0.0


@pytest.mark.parametrize("hidden", [(), 64, (64, 0), (64, 1.5), (True,), "64"])
def test_sizes_of_hidden_layers_are_whole_numbers(hidden: Any) -> None:
    with pytest.raises(InvalidInput, match="hidden"):
        checked_hidden(hidden)


def test_sizes_of_hidden_layers_may_come_as_a_list() -> None:
    assert checked_hidden([3, np.int64(4)]) == (3, 4)
