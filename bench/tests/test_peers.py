"""Peers: each installed one proposes points of any space, heeds what it is told, and repeats itself from a seed."""

import numpy as np
import pytest

from believer.arrays import Array
from believer.errors import InvalidInput, MissingExtra
from believer.numerics.sampling import latin_hypercube
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int
from believer_bench import peers
from believer_bench.axes import Axes
from believer_bench.members import Theirs, require_space, versions
from believer_bench.peers import PEERS
from believer_bench.race import design

BOTTOM = np.array([0.2, 0.7])
UNIT = Space.cube(2)
MIXED = Space(
    {
        "rate": Float(1e-4, 1e-1, log=True),
        "shift": Float(-2, 3),
        "layers": Int(1, 20),
        "drop": Float(0, 1, step=0.1),
        "kind": Categorical(["u", "v", "w"]),
    }
)
TABLE = Space(
    {"metal": Categorical(list("abcdef")), "salt": Categorical([1, True, None]), "oil": Categorical(list("xyz"))}
)
NUMBERS = Space(
    {
        "one": Int(3, 3),
        "magnitude": Int(1, 1000, log=True),
        "both": Int(2, 200, log=True, step=3),
        "step": Int(-9, 9, step=3),
        "whole": Float(0, 4, step=1),
        "long": Float(0, 1e6, step=1),
        "wide": Int(0, 2**39),
    }
)
ODD = Space({**NUMBERS.parameters, "none": Categorical([None]), "same": Categorical([1, True, 1.0])})
DISTINCT = tuple(name for name in PEERS if name.startswith("botorch"))
"""Who promises not to propose a point of a short finite space again."""


def bowl(X: Array) -> Array:
    values: Array = ((X - BOTTOM) ** 2).sum(axis=1)
    return values


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_proposes_near_the_bottom_of_a_bowl_and_the_same_again_from_the_same_seed(name: str) -> None:
    """Which it only can if it minimizes, knows which value belongs to which point, and has its columns in order."""
    entry = PEERS[name]
    for module in entry.modules:
        pytest.importorskip(module)
    X = latin_hypercube(16, 2, np.random.default_rng(1))
    peer = entry.make(UNIT, X.copy(), bowl(X), 3, False)
    two = peer.ask(2)
    assert two.shape == (2, 2)
    peer.tell(two, bowl(two))
    one = peer.ask(1)
    assert one.shape == (1, 2)
    found = np.vstack([two, one])
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert np.sqrt(bowl(found)).min() < 0.1
    np.testing.assert_array_equal(entry.make(UNIT, X.copy(), bowl(X), 3, False).ask(2), two)


def two_batches(name: str, space: Space, q: int) -> tuple[Array, Array]:
    """A design, and the two batches of ``q`` that follow it, on a bowl over the encoded cube."""
    for module in PEERS[name].modules:
        pytest.importorskip(module)
    X = design(space, 8, 1)
    bottom = np.random.default_rng(5).random(space.dim)
    peer = PEERS[name].make(space, X.copy(), ((X - bottom) ** 2).sum(axis=1), 0, False)
    batches = []
    for _ in range(2):
        batches.append(peer.ask(q))
        peer.tell(batches[-1], ((batches[-1] - bottom) ** 2).sum(axis=1))
    return X, np.vstack(batches)


@pytest.mark.parametrize(
    ("name", "space", "q"),
    [
        *((name, space, 3) for name, entry in PEERS.items() for space in (MIXED, TABLE) if entry.categorical),
        *((name, ODD, 1) for name in ("botorch_qlogei", "optuna_gp", "egobox_kb", "skopt_clmin")),
        ("bayes_opt_cl", NUMBERS, 3),
    ],
)
def test_a_peer_proposes_points_of_any_space(name: str, space: Space, q: int) -> None:
    X, found = two_batches(name, space, q)
    assert found.shape == (2 * q, space.dim)
    np.testing.assert_allclose(space.encode(space.decode(found)), found, rtol=0, atol=1e-12)
    if name in DISTINCT and space is TABLE:
        everything = np.vstack([np.unique(X, axis=0), found])
        assert len(np.unique(everything, axis=0)) == len(everything)


@pytest.mark.parametrize("space", [MIXED, TABLE, ODD])
def test_what_a_library_is_told_leads_back_to_the_point(space: Space) -> None:
    X = design(space, 30, 0)
    for kind in (peers.OptunaGP, peers.Egobox, peers.Skopt):
        axes = Axes.of(space, kind._code)
        assert "one" not in axes.codes
        assert "none" not in axes.codes
        np.testing.assert_allclose(axes.points(axes.rows(X)), X, rtol=0, atol=1e-12)


def test_every_kind_of_parameter_is_optunas_own() -> None:
    distributions = pytest.importorskip("optuna").distributions
    assert [peers.OptunaGP._distribution(p) for p in MIXED.parameters.values()] == [
        distributions.FloatDistribution(1e-4, 1e-1, log=True),
        distributions.FloatDistribution(-2, 3),
        distributions.IntDistribution(1, 20),
        distributions.FloatDistribution(0, 1, step=0.1),
        distributions.CategoricalDistribution(range(3)),
    ]


@pytest.mark.parametrize("noisy", [False, True])
def test_optuna_is_told_whether_a_problem_is_noisy(noisy: bool) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("torch")
    X = design(UNIT, 4, 0)
    peer = PEERS["optuna_gp"].make(UNIT, X, bowl(X), 0, noisy)
    assert isinstance(peer, peers.OptunaGP)
    assert peer._study.sampler._deterministic is not noisy


def test_optuna_takes_results_in_any_order_while_others_are_pending() -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("torch")
    assert [name for name, entry in PEERS.items() if entry.asynchronous] == ["optuna_gp"]
    X = design(MIXED, 6, 0)
    peer = PEERS["optuna_gp"].make(MIXED, X, np.arange(6.0), 0, False)
    assert isinstance(peer, peers.OptunaGP)
    first, second = peer.ask(1), peer.ask(1)
    peer.tell(second, np.array([22.0]))
    third = peer.ask(1)
    peer.tell(np.vstack([third, first]), np.array([33.0, 11.0]))
    assert [trial.value for trial in peer._study.trials[6:]] == [11.0, 22.0, 33.0]
    assert len({tuple(x) for x in np.vstack([first, second, third])}) == 3
    with pytest.raises(InvalidInput, match="a point that was asked for and not yet told"):
        peer.tell(first, np.array([11.0]))


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_names_the_versions_that_it_runs_on(name: str) -> None:
    if not PEERS[name].installed:
        pytest.skip("not installed")
    PEERS[name].require()
    assert list(versions(name)) == ["numpy", *PEERS[name].distributions]
    assert all(version[0].isdigit() for version in versions(name).values())


def test_a_peer_that_is_not_there_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name == "torch" else object())
    assert not PEERS["optuna_gp"].installed
    with pytest.raises(
        MissingExtra, match=r"this needs optuna; install it with: pip install 'believer-bench\[optuna_gp\]'"
    ):
        PEERS["optuna_gp"].require()


def test_peers_are_for_spaces_without_a_constraint_and_ours_for_any() -> None:
    constrained = Space({"a": Float(0, 1)}, lambda params: True)
    for name in PEERS:
        with pytest.raises(InvalidInput, match=f"{name} takes part on spaces without .* only; got a constraint"):
            require_space(name, constrained)
        require_space(name, NUMBERS)
    require_space("kb", constrained)


def test_a_peer_that_takes_no_choices_is_refused_them() -> None:
    for name, entry in PEERS.items():
        if entry.categorical:
            require_space(name, MIXED)
        else:
            with pytest.raises(InvalidInput, match=f"{name} takes part on .*; got the parameter 'kind'"):
                require_space(name, MIXED)


class Recorder:
    """A peer that only remembers what it is told."""

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        self.told = [y0.tolist()]

    def ask(self, q: int) -> Array:
        return np.full((q, 2), 0.5)

    def tell(self, X: Array, y: Array) -> None:
        self.told.append(y.tolist())


def test_a_peer_is_told_of_a_failure_as_the_worst_value_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = peers.PeerEntry(Recorder, (), (), "none")
    monkeypatch.setitem(PEERS, "recorder", entry)
    member = Theirs("recorder", UNIT, np.zeros((3, 2)), np.array([np.nan, -4.0, -3.0]), 0)
    for y in ([-5.0, np.nan], [np.nan, -1.0], [np.nan, np.nan]):
        member.tell(member.ask(2), np.array(y))
    assert isinstance(member._peer, Recorder)
    assert member._peer.told == [[-3.0, -4.0, -3.0], [-5.0, -3.0], [-1.0, -1.0], [-1.0, -1.0]]
    assert member.verdict is None
