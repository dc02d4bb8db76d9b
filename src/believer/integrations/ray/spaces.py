"""A search space of Ray Tune as a :class:`Space`: domains anywhere in nested dicts and lists, constants beside them.

============================================  =====================================================================
Tune                                          here, under its path: "model/lr"
============================================  =====================================================================
uniform, loguniform                           Float
randint, lograndint                           Int, below the upper bound
quniform, qloguniform, qrandint, qlograndint  Int: how many times q; Tune's q = 1 of whole numbers is no quantization
choice                                        Categorical; of positions, where a choice is no plain value
grid_search, randn, qrandn, sample_from       refused: a grid is for no searcher, and the others have no bounds
============================================  =====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ray.tune.search import sample

from believer.arrays import shown
from believer.errors import InvalidInput
from believer.space import Categorical, Float, Int, Space
from believer.space.parameters import Parameter

Path = tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A parameter, where it stands in a config, and how its values look there.

    Attributes
    ----------
    path : keys, and positions in lists.
    parameter : what is searched.
    q : the value in a config is this many times that of the parameter; None where it is the same.
    choices : values that a parameter of positions stands for; None where it is the value itself.
    """

    path: Path
    parameter: Parameter
    q: float | None = None
    choices: tuple[Any, ...] | None = None

    @property
    def name(self) -> str:
        """Of the parameter: its path."""
        return "/".join(map(str, self.path))

    @property
    def is_plain(self) -> bool:
        """Whether it can be written down: its values are plain ones, and its path leads through dicts alone."""
        return self.choices is None and all(isinstance(key, str) for key in self.path)

    def to_tune(self, value: Any) -> Any:
        """What stands in a config for a value of the parameter."""
        if self.choices is not None:
            return self.choices[value]
        if self.q is None or isinstance(self.q, int):
            return value if self.q is None else value * self.q
        return float(value * Decimal(repr(float(self.q))))  # 3 times 0.1 is 0.3, and never beyond a bound

    def from_tune(self, value: Any) -> Any:
        """The parameter's value for what stands in a config."""
        if self.choices is not None:
            at = [i for i, choice in enumerate(self.choices) if choice is value or _equal(choice, value)]
            if not at:
                raise InvalidInput(f"{self.name!r} must be one of its choices; got {shown(value)}.")
            return at[0]
        if self.q is None:
            return value
        if not isinstance(value, float | int) or not math.isclose(value / self.q, round(value / self.q)):
            raise InvalidInput(f"{self.name!r} must be a multiple of {self.q}; got {shown(value)}.")
        return round(value / self.q)


@dataclass(frozen=True, slots=True, eq=False)
class TuneSpace:
    """A :class:`Space`, and how its points look as configs of Tune.

    Attributes
    ----------
    space : where to search.
    leaves : its parameters, in order.
    template : a config with anything at their places; what is elsewhere is constant.
    """

    space: Space
    leaves: tuple[Leaf, ...]
    template: Mapping[str, Any]

    def config(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """A config for ``params``; constants are shared, not copied."""
        values = {leaf.path: leaf.to_tune(params[leaf.name]) for leaf in self.leaves}
        above = {path[:i] for path in values for i in range(len(path))}

        def filled(part: Any, path: Path) -> Any:
            if path in values:
                return values[path]
            if path not in above:
                return part
            if isinstance(part, dict):
                return {key: filled(inner, (*path, key)) for key, inner in part.items()}
            return type(part)(filled(inner, (*path, i)) for i, inner in enumerate(part))

        config: dict[str, Any] = filled(self.template, ())
        return config

    def params(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The point of a config, nested or flat ("model/lr"); what the space does not know is no part of it."""
        found = {}
        for leaf in self.leaves:
            try:
                value = config[leaf.name] if leaf.name in config else _at(config, leaf.path)
            except (KeyError, IndexError, TypeError) as error:
                raise InvalidInput(f"a config must have every parameter; {leaf.name!r} is missing.") from error
            found[leaf.name] = leaf.from_tune(value)
        return self.space.check(found)

    def describe(self) -> list[Any]:
        """Plain data on how values look in a config: path, q, number of choices that stand for others, is it plain."""
        return [
            [[*map(str, leaf.path)], leaf.q, None if leaf.choices is None else len(leaf.choices), leaf.is_plain]
            for leaf in self.leaves
        ]


def rebuilt(described: list[Any], config: Mapping[str, Any]) -> TuneSpace | None:
    """The space of :meth:`TuneSpace.describe` and ``Space.to_config``; None where these do not tell everything.

    It has no constants: a tuner that goes on adds them.
    """
    if config["constrained"] or not all(is_plain for _, _, _, is_plain in described):
        return None
    parts = zip(described, Space.from_config(config).parameters.items(), strict=True)
    leaves = tuple(_checked(tuple(path), q, name, parameter) for (path, q, _, _), (name, parameter) in parts)
    template: dict[str, Any] = {}
    for leaf in leaves:
        part = template
        for key in leaf.path[:-1]:
            part = part.setdefault(key, {})
        part[leaf.path[-1]] = None
    return _with_leaves(leaves, template)


def _checked(path: Path, q: Any, name: str, parameter: Parameter) -> Leaf:
    """A leaf from plain data that may be anyone's."""
    if not path or not all(isinstance(key, str) for key in path) or "/".join(path) != name:
        raise InvalidInput(f"the path of {name!r} must lead to it; got {shown(path)}.")
    if q is not None and (type(q) not in (int, float) or q <= 0 or not isinstance(parameter, Int)):
        raise InvalidInput(f"q of {name!r} must be a number above zero, of a parameter of multiples; got {shown(q)}.")
    return Leaf(path, parameter, q)


def tune_space(given: Mapping[str, Any] | Space) -> TuneSpace:
    """From a search space of Tune, or one of this library, whose constraint is kept; InvalidInput says what is wrong.

    Parameters
    ----------
    given : a dict of domains and constants, in any depth; or a :class:`Space`.
    """
    if isinstance(given, Space):
        leaves = tuple(Leaf((name,), parameter) for name, parameter in given.parameters.items())
        return TuneSpace(given, leaves, dict.fromkeys(given.names))
    if not isinstance(given, dict):
        raise InvalidInput(f"a search space must be a dict of Tune's domains, or a Space; got {shown(given)}.")
    leaves = tuple(_leaf(path, domain) for path, domain in _domains(given))
    if not leaves:
        raise InvalidInput(
            f"a search space must have something to search, e.g. tune.uniform(0, 1); got {shown(given)}."
        )
    return _with_leaves(leaves, given)


def _with_leaves(leaves: tuple[Leaf, ...], template: Mapping[str, Any]) -> TuneSpace:
    parameters = {leaf.name: leaf.parameter for leaf in leaves}
    if len(parameters) < len(leaves):
        raise InvalidInput(f"paths must differ from each other; got {', '.join(leaf.name for leaf in leaves)}.")
    return TuneSpace(Space(parameters), leaves, template)


def _domains(part: Any, path: Path = ()) -> Iterator[tuple[Path, sample.Domain]]:
    if isinstance(part, sample.Domain):
        yield path, part
    elif isinstance(part, dict):
        if len(part) == 1 and part.keys() & {"grid_search", "eval"}:
            raise InvalidInput(
                f"a grid is for no searcher: tune.choice in place of tune.grid_search; got {shown(part)} for "
                f"{'/'.join(map(str, path))!r}."
            )
        for key, inner in part.items():
            yield from _domains(inner, (*path, key))
    elif isinstance(part, list | tuple):
        for i, inner in enumerate(part):
            yield from _domains(inner, (*path, i))


def _leaf(path: Path, domain: Any) -> Leaf:
    name = "/".join(map(str, path))
    sampler, q = domain.get_sampler(), None
    if isinstance(sampler, sample.Quantized):
        sampler, q = sampler.get_sampler(), sampler.q
    try:
        if isinstance(domain, sample.Categorical):
            if next(_domains(domain.categories), None) is not None:
                raise InvalidInput("a choice must be a value, not a domain of its own")
            return _choice(path, tuple(domain.categories))
        if not isinstance(domain, sample.Float | sample.Integer) or isinstance(sampler, sample.Normal):
            raise InvalidInput(f"a parameter must have bounds, which tune.{_called(domain)} has not")
        log = isinstance(sampler, sample.LogUniform)
        if q is not None and (isinstance(domain, sample.Float) or q != 1):
            low, high = _multiple(domain.lower / q, math.ceil), _multiple(domain.upper / q, math.floor)
            return Leaf(path, Int(low, high, log=log), q)
        if isinstance(domain, sample.Integer):
            return Leaf(path, Int(domain.lower, domain.upper - 1, log=log))
        return Leaf(path, Float(domain.lower, domain.upper, log=log))
    except InvalidInput as error:
        raise InvalidInput(f"{str(error).removesuffix('.')} for {name!r}.") from error


def _choice(path: Path, values: tuple[Any, ...]) -> Leaf:
    try:
        return Leaf(path, Categorical(values))
    except InvalidInput:
        return Leaf(path, Categorical(range(len(values))), choices=values)


def _called(domain: Any) -> str:
    return "sample_from" if isinstance(domain, sample.Function) else "randn"


def _multiple(times: float, rounded: Any) -> int:
    """A bound in units of q; inward, unless it is one but for rounding."""
    nearest = round(times)
    return nearest if math.isclose(times, nearest) else rounded(times)


def _at(config: Any, path: Path) -> Any:
    for key in path:
        config = config[key]
    return config


def _equal(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # == may be anyone's code, and return anything
        return False
