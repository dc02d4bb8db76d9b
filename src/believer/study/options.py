"""The options of a study, said once: what a user may say, what each means, and how doors show them.

Every door takes ``**options: Unpack[Options]``. :func:`with_options` puts the list into its signature and docstring, so
that ``help()`` shows each option with its meaning.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Literal, TypedDict, TypeVar, cast

from believer.acquisitions import Acquisition
from believer.arrays import shown
from believer.batch import Strategy
from believer.errors import InvalidInput
from believer.maximize import Maximizer
from believer.study.goals import Goal
from believer.surrogates.protocols import Surrogate

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What a user may say of a study; what is left out, or None, takes its default.

    Parameters
    ----------
    outcomes : what evaluations return, where that is more than one number: for each name ``Minimize()``,
        ``Maximize()``, ``AtLeast(...)``, ``AtMost(...)``, ``Between(...)`` or ``Desirability(...)``. By default one
        number, "value", is minimized.
    maximize : whether that number is maximized instead.
    reference : of several objectives, a value for each that every point worth having beats; hypervolumes are measured
        from there. By default the worst of all results, or a tenth of the front's range beyond it.
    failures : what a failed evaluation tells: "worst", it counts as the worst result; or "learn", a model learns where
        evaluations fail. By default "worst" for one objective without limits, "learn" otherwise.
    surrogate : the model's recipe, a value or a name ("gp", "forest", ...). By default the Gaussian process.
    acquisition : what makes a point worth an experiment, a value or a name ("LogEI", "EI", ...). By default LogEI, and
        EHVI for several objectives.
    strategy : how q points are chosen together, a name ("kb", "qei", ...) or a value. By default "hedged" for one
        objective without limits, "kb" otherwise.
    maximizer : how the acquisition is maximized. By default what suits the model.
    n_init : how many results or pending trials there are before the model takes over. By default twice the number of
        parameters.
    seed : the same seed and the same calls give the same suggestions, per processor and BLAS. By default one is drawn;
        the journal has it, ``settings.seed`` has it, and the printed study shows it.
    warp : "auto": where results have a heavy tail on the bad side, and are more likely so, the model learns from a warp
        of them that leaves the better half as it is; or "none". By default "auto".
    resolution : the least improvement that matters, in units of the objective. Where no more is to be expected, points
        are chosen elsewhere. By default a ten-thousandth of the distance from the mean result to the best. With limits
        or several objectives it only counts in verdicts.
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
    """The options that were said, not None; InvalidInput for one that there is not, with the nearest name.

    Parameters
    ----------
    options : by name.
    others : further names that the door takes, for the suggestion.
    """
    others = [*others]
    for name in options:
        if name not in NAMES:
            raise unknown_option(name, [*others, *NAMES])
    return {name: value for name, value in options.items() if value is not None}


class UnknownOption(InvalidInput, TypeError):
    """An option that there is not: Python itself calls that a TypeError, and so do hosts."""


def unknown_option(name: str, names: Iterable[str]) -> UnknownOption:
    """The error for an option that there is not, which suggests the nearest of the ``names`` that there are."""
    names = [*names]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}."
    return UnknownOption(f"there is no option {shown(name)}; {hint}")


def suggesting(function: F) -> F:
    """``function`` that raises InvalidInput for an option that it has not, with the nearest name."""
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
    """``doc`` with the list of options where it says ``{options}``."""
    if doc is None or Options.__doc__ is None:  # python -OO
        return doc
    listed = inspect.cleandoc(Options.__doc__).partition("----------\n")[2]
    return inspect.cleandoc(doc).replace("{options}", listed)
