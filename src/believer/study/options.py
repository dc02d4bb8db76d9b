"""The options of a study, defined once: their names, what each means, and how every entry point documents them.

Every entry point takes ``**options: Unpack[Options]``. :func:`with_options` puts the list into its signature and
docstring, so that ``help()`` shows each option with its meaning.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Literal, TypedDict, TypeVar, cast

from believer.acquisitions import Acquisition
from believer.arrays import nearest, shown
from believer.batch import Strategy
from believer.errors import InvalidInput
from believer.maximize import Maximizer
from believer.study.goal import Goal
from believer.surrogates.protocols import Surrogate

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """The options of a study. An option that is left out, or is None, has its default.

    Parameters
    ----------
    outcomes : the outcomes of an evaluation, if it returns more than one number: for each name ``Minimize()``,
        ``Maximize()``, ``AtLeast(...)``, ``AtMost(...)``, ``Between(...)`` or ``Desirability(...)``. By default one
        number, "value", is minimized.
    maximize : whether the one number is maximized instead of minimized.
    reference : the reference point of the hypervolume, with a value for each of several objectives: the worst values
        that are still acceptable. By default it is inferred: the worst of all results, or a tenth of the front's range
        beyond the front.
    failures : how failed evaluations count. With "worst" a failed evaluation counts as the worst result; with "learn" a
        model learns where evaluations fail. By default "worst" for one objective without limits, "learn" otherwise.
    surrogate : the surrogate model, an object or a name ("gp", "forest", ...). By default a Gaussian process.
    acquisition : the acquisition function, an object or a name ("LogEI", "EI", ...). By default LogEI, and EHVI for
        several objectives.
    strategy : the batch strategy, which chooses q points together: a name ("kb", "qei", ...) or an object. By
        default "hedged" for one objective without limits, "kb" otherwise.
    maximizer : how the acquisition function is maximized. By default the maximizer that suits the model.
    n_init : the size of the initial design: the number of results and pending trials before the model chooses points.
        By default twice the number of parameters.
    seed : the random seed. The same seed and the same calls give the same suggestions on the same processor and BLAS.
        By default a seed is drawn; the journal, ``settings.seed`` and the printed study show it.
    warp : "auto" or "none". With "auto", results that span orders of magnitude, or have a heavy tail on the bad side,
        are warped by a logarithm before the model learns from them, if that makes them more likely. Improvements on
        the best result are not changed. By default "auto".
    resolution : the smallest improvement that matters, in units of the objective. Where the model expects less, points
        are chosen elsewhere. By default a ten-thousandth of the distance from the mean result to the best one. With
        limits or several objectives it only affects verdicts.
    """

    outcomes: Mapping[str, Goal] | None
    maximize: bool | None
    reference: Mapping[str, float] | None
    failures: Literal["worst", "learn"] | None
    surrogate: str | Surrogate | None
    acquisition: str | Acquisition | None
    strategy: str | Strategy | None
    maximizer: Maximizer | None
    n_init: int | None
    seed: int | None
    warp: Literal["auto", "none"] | None
    resolution: float | None


NAMES: tuple[str, ...] = tuple(Options.__annotations__)


def said(options: Mapping[str, Any], others: Iterable[str] = ()) -> dict[str, Any]:
    """The options that were given and are not None. An unknown option raises ``UnknownOption``, which suggests the
    nearest name among the options and ``others``, which the entry point accepts as well."""
    others = [*others]
    for name in options:
        if name not in NAMES:
            raise unknown_option(name, [*others, *NAMES])
    return {name: value for name, value in options.items() if value is not None}


class UnknownOption(InvalidInput, TypeError):
    """An unknown option. It is also a TypeError, as for unknown arguments in Python."""


def unknown_option(name: str, names: Iterable[str]) -> UnknownOption:
    """The error for an unknown option, which suggests the nearest of the ``names``."""
    return UnknownOption(f"there is no option {shown(name)}; {nearest(name, names)}")


def suggesting(function: F) -> F:
    """``function``, which then raises ``UnknownOption`` for an option that it does not have, with the nearest name."""
    named = inspect.signature(function).parameters.values()
    names = [p.name for p in named if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]

    @wraps(function)
    def with_known_options(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in names:
                raise unknown_option(name, [name for name in names if name not in ("self", "cls")])
        return function(*args, **options)

    return cast("F", with_known_options)


def with_options(function: F) -> F:
    """``function`` with the options of a study in its signature and its docstring, in place of ``**options``."""
    own = inspect.signature(function)
    named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    written = {name: getattr(one, "__forward_arg__", one) for name, one in Options.__annotations__.items()}
    listed = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in written.items()
    ]
    function.__signature__ = own.replace(parameters=[*named, *listed])  # type: ignore[attr-defined]
    function.__doc__ = documented(function.__doc__)
    return function


def documented(doc: str | None) -> str | None:
    """``doc`` with the list of options in place of ``{options}``."""
    if doc is None or Options.__doc__ is None:  # python -OO
        return doc
    listed = inspect.cleandoc(Options.__doc__).partition("----------\n")[2]
    return inspect.cleandoc(doc).replace("{options}", listed)
