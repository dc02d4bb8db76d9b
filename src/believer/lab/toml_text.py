"""Writing a study.toml: plain TOML with a comment where a reader needs one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from believer.arrays import shown
from believer.errors import InvalidInput
from believer.lab.study_file import BATCH
from believer.space import Space
from believer.space.parameter import backfill_of
from believer.space.rules import Linear, MaxParts, Rule
from believer.space.units import units_of
from believer.space.when import when_of
from believer.study.goal import AtLeast, AtMost, Between, Desirability, Goal, Maximize

TomlEntry = dict[str, Any]

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_HEAD = """\
# A study of believer. Change it with any text editor; the next command shows what has changed and asks
# before it goes on. The commands: believer ask, tell, show, amend, report, watch.
"""
_PARAMETERS = """
# What you vary. Numbers: low and high, and step for the steps that you can set, log = true where 1 to 10 is as
# far as 10 to 100, type = "int" for whole numbers. Choices: choices = [...], with type = "ordinal" where they have
# an order, or with numbers that say how alike they are: choices = { DMF = [36.7, 3.8], water = [78.4, 1.9] }.
# A list of numbers: values = [...]. Units are shown and never converted. A parameter that there is only
# with others: when = { solvent = "DMF" }. A guess of the best value of a number, and its width: likely = [80, 10].
"""
_RULES = """\
# What must hold at every suggestion: sum_to = 100 or max_parts = 2, each with of = ["a", "b"];
# or terms = { a = 2, b = 1 } with at_most, at_least or equals.
"""
_OUTCOMES = """\
# What you measure: goal = "maximize" or "minimize", or a limit: at_least = 95, at_most = 5, or both.
"""
_OPTIONS = """\
# Options of the search; all may be left out. noise = "infer" if repeating an experiment gives another result.
"""


def study_text(
    space: Space,
    outcomes: Mapping[str, Goal],
    name: str = "",
    batch: int = BATCH,
    options: Mapping[str, Any] | None = None,
    decimal: str = ".",
    shared: Mapping[str, int] | None = None,
) -> str:
    """The text of a study.toml, which :func:`~believer.lab.study_file.read_study_file` reads as the same study.

    ``options`` are further options, as in the file; ``shared`` has, for each shared parameter, the largest number of
    values in a batch.
    """
    if space.constraint is not None or space.within is not None or space.table is not None:
        raise InvalidInput(
            "a study.toml cannot hold a rule that is a function, nor a table; write sum_to, linear, max_parts, or the "
            "path of the table."
        )
    parts = [_HEAD, f"name = {_value(name)}\n", f"batch = {_value(batch)}  # suggestions that `believer ask` makes\n"]
    if shared:
        said: Any = list(shared) if set(shared.values()) == {1} else dict(shared)
        parts.append(f"shared = {_value(said)}  # one value in a batch, or as many as stated\n")
    parts += [_PARAMETERS, *(_table(("parameters", n), _parameter(p)) for n, p in space.parameters.items())]
    if space.rules:
        parts += [_RULES, *(f"[[rules]]\n{_keys(_rule(rule))}\n" for rule in space.rules)]
    parts += [_OUTCOMES, *(_table(("outcomes", n), _outcome(goal)) for n, goal in outcomes.items())]
    if options:
        parts += [_OPTIONS, _table(("options",), dict(options))]
    if decimal != ".":
        parts += [_table(("sheets",), {"decimal": decimal})]
    return "".join(parts).rstrip("\n") + "\n"


def _parameter(p: Any) -> TomlEntry:
    """The entry of a parameter, without defaults."""
    config = p.to_config()
    kind = type(p).__name__.lower()
    said: TomlEntry = {} if kind in ("float", "categorical", "discrete") else {"type": kind}
    said |= {key: value for key, value in config.items() if value not in (None, False) or key not in ("step", "log")}
    if said.get("step") == 1 and kind == "int":
        del said["step"]
    if backfill_of(p) is not ...:
        said["backfill"] = backfill_of(p)
    if (when := when_of(p)) is not None:
        said["when"] = {name: values[0] if len(values) == 1 else values for name, values in when.items()}
    if (likely := getattr(p, "likely", None)) is not None:
        said["likely"] = likely
    return said | ({"units": units_of(p)} if units_of(p) else {})


def _rule(rule: Rule) -> TomlEntry:
    if isinstance(rule, MaxParts):
        return {"max_parts": rule.most, "of": [*rule.names]}
    assert isinstance(rule, Linear)
    if rule.is_equation and all(c == 1.0 for _, c in rule.terms) and len(rule.terms) > 1:
        return {"sum_to": rule.at_least, "of": [*rule.names]}
    bounds = {"equals": rule.at_least} if rule.is_equation else {"at_least": rule.at_least, "at_most": rule.at_most}
    return {"terms": dict(rule.terms), **{key: value for key, value in bounds.items() if value is not None}}


def _outcome(goal: Goal) -> TomlEntry:
    said: TomlEntry
    match goal:
        case AtLeast(threshold=limit):
            said = {"at_least": limit}
        case AtMost(threshold=limit):
            said = {"at_most": limit}
        case Between(low=low, high=high):
            said = {"at_least": low, "at_most": high}
        case Desirability(bad=bad, good=good, weight=weight):
            said = {"goal": "desirability", "bad": bad, "good": good}
            said |= {"weight": weight} if weight != 1.0 else {}
        case _:
            said = {"goal": "maximize" if isinstance(goal, Maximize) else "minimize"}
    if isinstance(goal, AtLeast | AtMost | Between) and goal.probability != AtMost(0.0).probability:
        said["probability"] = goal.probability
    return said | ({"units": goal.units} if goal.units else {})


def _table(path: Iterable[str], entry: TomlEntry) -> str:
    return f"[{'.'.join(_key(part) for part in path)}]\n{_keys(entry)}\n"


def _keys(entry: TomlEntry) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in entry.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    """A TOML string: characters are escaped as in JSON, and DEL, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    """A value in TOML; whole floats are written as whole numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    raise InvalidInput(f"a study.toml cannot hold {shown(value)}.")
