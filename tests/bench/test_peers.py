"""Peers: each installed one proposes points of the cube, heeds what it is told, and repeats itself from a seed."""

import numpy as np
import pytest

from believer.arrays import Array
from believer.bench import peers
from believer.bench.members import Theirs, require_space, versions
from believer.bench.peers import PEERS
from believer.errors import InvalidInput, MissingExtra
from believer.numerics.sampling import latin_hypercube
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int

BOTTOM = np.array([0.2, 0.7])


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
    peer = entry.make(X.copy(), bowl(X), 3)
    two = peer.ask(2)
    assert two.shape == (2, 2)
    peer.tell(two, bowl(two))
    one = peer.ask(1)
    assert one.shape == (1, 2)
    found = np.vstack([two, one])
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert np.sqrt(bowl(found)).min() < 0.1
    np.testing.assert_array_equal(entry.make(X.copy(), bowl(X), 3).ask(2), two)


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
    with pytest.raises(MissingExtra, match=r"this needs optuna; install it with: pip install 'believer\[optuna\]'"):
        PEERS["optuna_gp"].require()


@pytest.mark.parametrize(
    ("space", "wrong"),
    [
        (Space({"a": Float(0, 1), "b": Int(1, 3)}), "the parameter 'b'"),
        (Space({"a": Categorical(["u", "v"])}), "the parameter 'a'"),
        (Space({"a": Float(0, 1, step=0.25)}), "the parameter 'a'"),
        (Space({"a": Float(0, 1)}, lambda params: True), "a constraint"),
    ],
)
def test_peers_are_for_spaces_of_real_numbers_and_ours_for_any(space: Space, wrong: str) -> None:
    for name in PEERS:
        with pytest.raises(InvalidInput, match=f"{name} takes part on spaces of Floats .*; got {wrong}"):
            require_space(name, space)
        require_space(name, Space({"a": Float(1e-3, 1, log=True)}))
    require_space("kb", space)


class Recorder:
    """A peer that only remembers what it is told."""

    def __init__(self, X0: Array, y0: Array, seed: int) -> None:
        self.told = [y0.tolist()]

    def ask(self, q: int) -> Array:
        return np.full((q, 2), 0.5)

    def tell(self, X: Array, y: Array) -> None:
        self.told.append(y.tolist())


def test_a_peer_is_told_of_a_failure_as_the_worst_value_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = peers.PeerEntry(Recorder, (), (), "none")
    monkeypatch.setitem(PEERS, "recorder", entry)
    member = Theirs("recorder", np.zeros((3, 2)), np.array([np.nan, -4.0, -3.0]), 0)
    for y in ([-5.0, np.nan], [np.nan, -1.0], [np.nan, np.nan]):
        member.tell(member.ask(2), np.array(y))
    assert isinstance(member._peer, Recorder)
    assert member._peer.told == [[-3.0, -4.0, -3.0], [-5.0, -3.0], [-1.0, -1.0], [-1.0, -1.0]]
    assert member.verdict is None
