"""Search spaces of Ray Tune, to and from ours."""

from __future__ import annotations

from typing import Any

import pytest
from local_ray import needs_ray

from believer.errors import InvalidInput
from believer.space import Categorical, Float, Int, Space

pytestmark = needs_ray


def searched(space: Any, *points: dict[str, Any]) -> Any:
    """A search of ``space``, which is to suggest ``points`` first."""
    from believer.integrations.ray import BelieverSearch

    return BelieverSearch(space, mode="min", points_to_evaluate=points)


def engine(searcher: Any) -> Space:
    """The space that is searched in truth."""
    space: Space = searcher._study.space
    return space


def domains() -> dict[str, tuple[Any, Any]]:
    """Each kind of domain of Tune, and the parameter that it is here."""
    from ray import tune

    return {
        "uniform": (tune.uniform(-1, 2.5), Float(-1, 2.5)),
        "loguniform": (tune.loguniform(1e-4, 1e-1), Float(1e-4, 1e-1, log=True)),
        "quniform": (tune.quniform(-0.3, 0.9, 0.1), Float(-0.3, 0.9, step=0.1)),
        "randint": (tune.randint(-3, 5), Int(-3, 4)),
        "lograndint": (tune.lograndint(1, 100), Int(1, 99, log=True)),
        "qrandint": (tune.qrandint(3, 20, 5), Int(5, 20, step=5)),
        "qrandint of one": (tune.qrandint(3, 20, 1), Int(3, 19)),
        "qlograndint": (tune.qlograndint(8, 512, 8), Int(8, 512, log=True, step=8)),
        "choice": (tune.choice(["relu", None, 3, 2.5, True]), Categorical(["relu", None, 3, 2.5, True])),
        "choice of lists": (tune.choice([[8, 8], [16], [8, 8]]), Categorical(["choice 0", "choice 1", "choice 2"])),
        "choice of twins": (tune.choice(["a", "a", "b"]), Categorical(["choice 0", "choice 1", "choice 2"])),
    }


def test_every_bounded_domain_of_tune_is_a_parameter_whose_values_tune_allows() -> None:
    for name, (domain, parameter) in domains().items():
        searcher = searched({name: domain})
        assert engine(searcher) == Space({name: parameter}), name
        for i in range(6):
            config = searcher.suggest(f"{i}")
            if config == "FINISHED":
                break
            assert domain.is_valid(config[name]), name
            assert type(config[name]) is type(domain.cast(config[name])), name


def test_what_tune_itself_samples_is_a_point_here() -> None:
    for name, (domain, _) in domains().items():
        values = domain.sample(size=20, random_state=1)
        searcher = searched({name: domain}, *({name: value} for value in values))
        for i, value in enumerate(values):
            again = searcher.suggest(f"{i}")[name]
            assert again == pytest.approx(value) if isinstance(value, float) else again == value, name


def test_domains_may_be_anywhere_and_constants_stay_where_they_are() -> None:
    from ray import tune

    given: dict[str, Any] = {
        "model": {"lr": tune.loguniform(1e-4, 1.0), "layers": [tune.randint(1, 9), 64], "name": "net"},
        "pair": (tune.choice("ab"), "kept"),
        "of/slash": {"sub": [1]},
        "empty": {},
    }
    config = {**given, "model": {"lr": 0.01, "layers": [3, 64], "name": "net"}, "pair": ("b", "kept")}
    flat = {"model/lr": 0.02, "model/layers/0": 3, "pair/0": "b"}
    searcher = searched(given, config, flat)
    assert engine(searcher).names == ("model/lr", "model/layers/0", "pair/0")
    assert searcher.suggest("nested") == config
    config["model"]["lr"] = 0.02
    assert searcher.suggest("flat") == config
    assert isinstance(given["model"]["lr"], tune.search.sample.Float)


def test_choices_may_have_domains_of_their_own_which_belong_to_them() -> None:
    from ray import tune

    given: dict[str, Any] = {
        "model": tune.choice(
            [
                {
                    "kind": "svm",
                    "C": tune.loguniform(1e-3, 1e3),
                    "kernel": tune.choice(["rbf", {"poly": tune.randint(2, 5)}]),
                },
                {"kind": "forest", "trees": tune.randint(10, 200)},
                {"kind": "ridge", "C": tune.loguniform(1e-3, 1e3)},
                "none",
            ]
        ),
        "rate": tune.choice([tune.loguniform(1e-3, 1.0), 0.0]),
        "epochs": 10,
    }
    first = {"model": {"kind": "svm", "C": 1.0, "kernel": {"poly": 3}}, "rate": 0.0, "epochs": 10}
    second = {"model": "none", "rate": 0.25, "epochs": 10}
    searcher = searched(given, first, {"model/kind": "forest", "model/trees": 50, "rate": 0.5}, second)
    space = engine(searcher)
    assert space.parameters["model/C"] == Float(1e-3, 1e3, log=True, when={"model": ["choice 0", "choice 2"]})
    assert [searcher.suggest("a"), searcher.suggest("b"), searcher.suggest("c")] == [
        first,
        {"model": {"kind": "forest", "trees": 50}, "rate": 0.5, "epochs": 10},
        second,
    ]
    kinds = set()
    for i in range(12):
        config = searcher.suggest(f"{i}")
        kinds.add(config["model"] if config["model"] == "none" else config["model"]["kind"])
        assert not isinstance(config["rate"], tune.search.sample.Domain)
        assert space.allows(searcher._where.params(config))
        if config["model"] != "none":
            wanted = {"svm": {"C", "kernel"}, "forest": {"trees"}, "ridge": {"C"}}[config["model"]["kind"]]
            assert config["model"].keys() == {"kind", *wanted}
    assert kinds == {"svm", "forest", "ridge", "none"}
    assert isinstance(given["model"].categories[0]["C"], tune.search.sample.Float)


def test_a_conditional_space_of_ours_gives_configs_with_what_counts() -> None:
    space = Space({"gamma": Float(0, 1, when={"svm/kernel": "rbf"}), "svm/kernel": Categorical(["rbf", "linear"])})
    searcher = searched(space, {"svm": {"kernel": "linear"}}, {"svm": {"kernel": "rbf"}, "gamma": 0.5})
    assert searcher.suggest("a") == {"svm": {"kernel": "linear"}}
    assert searcher.suggest("b") == {"svm": {"kernel": "rbf"}, "gamma": 0.5}


def test_a_space_of_ours_will_do() -> None:
    space = Space({"x": Float(0, 1), "n": Int(1, 3)}, constraint=lambda params: params["x"] * params["n"] < 2)
    searcher = searched(space, {"x": 0.5, "n": 2})
    assert engine(searcher) is space
    assert searcher.suggest("a") == {"x": 0.5, "n": 2}


def test_what_cannot_be_searched_is_refused_by_name() -> None:
    from ray import tune

    refused: list[tuple[Any, str]] = [
        ({"a": {"b": tune.grid_search([1, 2])}}, r"no tune.grid_search; got .*'b'"),
        ({"a": tune.randn(0, 1)}, r"must have bounds; tune.randn and tune.sample_from have none for 'a'"),
        ({"a": tune.qrandn(0, 1, 0.1)}, "must have bounds"),
        ({"a": tune.sample_from(lambda config: 1)}, r"must have bounds; .* for 'a'"),
        ({"a": {"eval": "__import__('os')._exit(7)"}}, "must have bounds"),
        (
            {"a": tune.choice([{"b": tune.grid_search([1])}])},
            r"must have no tune.grid_search; got one for 'a'",
        ),
        ({"a": tune.choice([{"b": tune.randn(0, 1)}])}, r"must have bounds; .* for 'a/b'"),
        ({"a": tune.qloguniform(0.5, 100, 0.5)}, r"log.* for 'a'"),
        ({"a": tune.uniform(1, 1)}, r"low < high.* for 'a'"),
        ({"a": tune.choice([])}, r"at least one.* for 'a'"),
        ({"a/b": tune.uniform(0, 1), "a": {"b": tune.uniform(0, 1)}}, "places of parameters must differ"),
        ({"a": 1}, r"must have something to search, tune.choice or tune.uniform"),
        ([tune.uniform(0, 1)], "must be a dict of Tune's domains, or a Space"),
    ]
    for given, text in refused:
        with pytest.raises(InvalidInput, match=text):
            searched(given)
    for domain, value, text in (
        (tune.quniform(0, 1, 0.5), 0.7, "'a'"),
        (tune.choice([[1], [2]]), [3], "'a'"),
        (tune.uniform(0, 1), "low", "'a'"),
    ):
        with pytest.raises(InvalidInput, match=text):
            searched({"a": domain}, {"a": value})
    with pytest.raises(InvalidInput, match="every parameter; no 'a/b' is in"):
        searched({"a": {"b": tune.uniform(0, 1)}}, {"a": {}})
