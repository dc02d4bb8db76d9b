"""Search spaces of Ray Tune, to and from ours."""

from __future__ import annotations

from typing import Any

import pytest
from local_ray import needs_ray

from believer.errors import InvalidInput
from believer.space import Categorical, Float, Int, Space

pytestmark = needs_ray


def spaces() -> Any:
    from believer.integrations.ray import spaces

    return spaces


def domains() -> dict[str, tuple[Any, Any]]:
    """Each kind of domain of Tune, and the parameter that it is here."""
    from ray import tune

    return {
        "uniform": (tune.uniform(-1, 2.5), Float(-1, 2.5)),
        "loguniform": (tune.loguniform(1e-4, 1e-1), Float(1e-4, 1e-1, log=True)),
        "quniform": (tune.quniform(-0.3, 0.9, 0.1), Int(-3, 9)),
        "qloguniform": (tune.qloguniform(0.5, 100, 0.5), Int(1, 200, log=True)),
        "randint": (tune.randint(-3, 5), Int(-3, 4)),
        "lograndint": (tune.lograndint(1, 100), Int(1, 99, log=True)),
        "qrandint": (tune.qrandint(3, 20, 5), Int(1, 4)),
        "qrandint of one": (tune.qrandint(3, 20, 1), Int(3, 19)),
        "qlograndint": (tune.qlograndint(8, 512, 8), Int(1, 64, log=True)),
        "choice": (tune.choice(["relu", None, 3, 2.5, True]), Categorical(["relu", None, 3, 2.5, True])),
        "choice of lists": (tune.choice([[8, 8], [16], [8, 8]]), Categorical([0, 1, 2])),
    }


def test_every_bounded_domain_of_tune_is_a_parameter_whose_values_tune_allows() -> None:
    for name, (domain, parameter) in domains().items():
        found = spaces().tune_space({name: domain})
        assert found.space == Space({name: parameter}), name
        for params in found.space.decode([[u] * found.space.dim for u in (0.0, 0.21, 0.5, 0.77, 1.0)]):
            value = found.config(params)[name]
            assert domain.is_valid(value), name
            assert type(value) is type(domain.cast(value)), name
            assert found.config(found.params({name: value})) == {name: value}, name


def test_what_tune_itself_samples_is_a_point_here() -> None:
    for name, (domain, _) in domains().items():
        found = spaces().tune_space({name: domain})
        for value in domain.sample(size=20, random_state=1):
            again = found.config(found.params({name: value}))[name]
            assert again == pytest.approx(value) if isinstance(value, float) else again == value, name


def test_domains_may_be_anywhere_and_constants_stay_where_they_are() -> None:
    from ray import tune

    kept = object()
    given = {
        "model": {"lr": tune.loguniform(1e-4, 1.0), "layers": [tune.randint(1, 9), 64], "name": "net"},
        "pair": (tune.choice("ab"), kept),
        "empty": {},
    }
    found = spaces().tune_space(given)
    assert found.space.names == ("model/lr", "model/layers/0", "pair/0")
    params = {"model/lr": 0.01, "model/layers/0": 3, "pair/0": "b"}
    config = found.config(params)
    assert config == {
        "model": {"lr": 0.01, "layers": [3, 64], "name": "net"},
        "pair": ("b", kept),
        "empty": {},
    }
    assert found.params(config) == found.params(params) == params
    assert isinstance(given["model"]["lr"], tune.search.sample.Float)  # type: ignore[index]
    with pytest.raises(InvalidInput, match="every parameter; 'model/lr' is missing"):
        found.params({"model": {}})


def test_a_space_of_ours_will_do() -> None:
    space = Space({"x": Float(0, 1), "n": Int(1, 3)}, constraint=lambda params: params["x"] * params["n"] < 2)
    found = spaces().tune_space(space)
    assert found.space is space
    assert found.config({"x": 0.5, "n": 2}) == {"x": 0.5, "n": 2}


def test_what_cannot_be_searched_is_refused_by_name() -> None:
    from ray import tune

    refused: list[tuple[Any, str]] = [
        ({"a": {"b": tune.grid_search([1, 2])}}, r"tune.choice in place of tune.grid_search; .*for 'a/b'"),
        ({"a": tune.randn(0, 1)}, r"must have bounds, which tune.randn has not for 'a'"),
        ({"a": tune.qrandn(0, 1, 0.1)}, "must have bounds"),
        ({"a": tune.sample_from(lambda config: 1)}, r"must have bounds, which tune.sample_from has not for 'a'"),
        ({"a": tune.choice([{"b": tune.uniform(0, 1)}])}, r"a choice must be a value, not a domain of its own for 'a'"),
        ({"a": tune.uniform(1, 1)}, r"low < high.* for 'a'"),
        ({"a": tune.choice([])}, r"at least one.* for 'a'"),
        ({"a/b": tune.uniform(0, 1), "a": {"b": tune.uniform(0, 1)}}, "paths must differ"),
        ({"a": 1}, r"must have something to search, e.g. tune.uniform"),
        ([tune.uniform(0, 1)], "must be a dict of Tune's domains, or a Space"),
    ]
    for given, text in refused:
        with pytest.raises(InvalidInput, match=text):
            spaces().tune_space(given)
    with pytest.raises(InvalidInput, match=r"'a' must be a multiple of 0.5; got 0.7"):
        spaces().tune_space({"a": tune.quniform(0, 1, 0.5)}).params({"a": 0.7})
    with pytest.raises(InvalidInput, match=r"'a' must be one of its choices; got \[3\]"):
        spaces().tune_space({"a": tune.choice([[1], [2]])}).params({"a": [3]})
