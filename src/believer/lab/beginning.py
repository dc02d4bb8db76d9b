"""The beginning of a study: questions to a new user, and a template for those who prefer to edit a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from believer.capabilities import has
from believer.errors import InvalidInput
from believer.lab.study_file import BATCH, refuse_taken
from believer.lab.toml_text import study_text
from believer.space import Categorical, Discrete, Float, Int, Space, sum_to
from believer.space.parameter import Number, Parameter
from believer.space.rules import Rule
from believer.space.texts import Marks
from believer.space.units import amount, units_of
from believer.study.batch_rules import BatchRules
from believer.study.goal import AtLeast, AtMost, Between, Goal, Maximize, Minimize, words
from believer.study.settings import StudySettings

T = TypeVar("T")

TEMPLATE = """\
# A study of believer. Change it with any text editor; the next command shows what has changed and asks
# before it goes on. The commands: believer ask, tell, show, amend, report, watch.
name = "Example: an amide coupling"
batch = 8                # experiments that `believer ask` suggests

# What you vary. Units are shown and never converted.
[parameters.temperature]
low = 20
high = 120
step = 5                 # leave it out if any value can be set
units = "°C"

[parameters.time]
low = 0.5
high = 24
log = true               # 1 to 2 matters as much as 10 to 20
units = "h"

[parameters.equivalents]
values = [1.0, 1.2, 1.5, 2.0]

[parameters.solvent]
choices = ["DMF", "MeCN", "THF", "water"]

# What must hold at every suggestion. For a mixture, for example:
# [[rules]]
# sum_to = 100
# of = ["resin", "hardener", "filler"]

# What you measure: goal = "maximize" or "minimize", or a limit: at_least = 95, at_most = 5, or both.
[outcomes.yield]
goal = "maximize"
units = "%"

[outcomes.purity]
at_least = 95
units = "%"

[options]                # all of them may be left out
noise = "infer"          # repeating an experiment gives another result

[sheets]
decimal = "."            # "," writes 12,5 and separates cells by semicolons
"""

_NUMBER = r"([+-]?\d[\d.,]*(?:[eE][+-]?\d+)?|[.,]\d+)"
_RANGE = re.compile(rf"(?:from\s+)?{_NUMBER}\s*(?:to|-|–|\.\.\.?|…|bis|until)\s*{_NUMBER}\s*(.*)", re.IGNORECASE)
_STEP = re.compile(rf"(?:,|;)?\s*(?:in\s+)?steps?\s*(?:of|=|:)?\s*{_NUMBER}", re.IGNORECASE)
_LIMIT = re.compile(
    rf"(?:between\s+{_NUMBER}\s+and\s+{_NUMBER}|(at\s+least|more\s+than|minimum|>=?|≥|min\.?)\s*{_NUMBER}"
    rf"|(at\s+most|less\s+than|maximum|<=?|≤|max\.?)\s*{_NUMBER})"
    r"\s*(.*)",
    re.IGNORECASE,
)
_SUM = re.compile(rf"(.+?)\s*=\s*{_NUMBER}\s*%?")


@dataclass(frozen=True, slots=True)
class Answers:
    """Asks each question until the answer can be understood.

    Parameters
    ----------
    ask : a function that asks a question and returns the answer.
    say : a function that prints a text.
    """

    ask: Callable[[str], str]
    say: Callable[[str], None]

    def text(self, name: str) -> str:
        """The text of the study.toml for the answers; ``name`` is the default name of the study."""
        self.say("A few questions; Enter takes what is in [brackets], Ctrl-C writes nothing.")
        name = self.ask(f"\nWhat is the study called? [{name}] ") or name
        self.say(
            "\nWhat do you vary? A range: 20 to 120 °C, or: 20 to 120 step 5 °C, or: 0.1 to 10 log h. Whole numbers: "
            "1 to 12 whole.\nChoices: DMF, MeCN, water. Numbers that there are: 1, 1.5, 2."
        )
        parameters: dict[str, Parameter] = {}
        while (entry := self._named("Parameter", parameters, {})) is not None:
            parameters[entry] = self._until(f"  {entry}: ", parameter_of)
            self.say(f"  {entry}: {_in_words(parameters[entry])}")
        rules: list[Rule] = []
        if sum(_is_range(p) and not (p.log or _is_whole(p)) for p in parameters.values()) > 1:
            self.say("\nDo some of them add up, as the parts of a mixture? Such as: resin, hardener, filler = 100")
            rules = self._until("Which, and to what? [none] ", lambda text: sums_of(text, parameters))
        shared = self._until(
            "\nWhich of them is the same for a whole batch, such as the temperature of an oven? [none] ",
            lambda text: shared_of(text, parameters),
        )
        self.say("\nWhat do you measure? Each is: maximize, minimize, at least 95 %, at most 5, between 6 and 8.")
        goals: dict[str, Goal] = {}
        while (entry := self._named("Outcome", goals, parameters)) is not None:
            goals[entry] = self._until(f"  {entry} [maximize]: ", goal_of)
            self.say(f"  {entry}: {words(goals[entry])}")
            if not any(isinstance(goal, Maximize | Minimize) for goal in goals.values()):
                self.say("  Something to maximize or minimize is still needed.")
        noise = self._until("\nDoes the same experiment, repeated, give another result? [Y/n] ", yes_or_no)
        batch = self._until(f"How many experiments at a time? [{BATCH}] ", count_of)
        options: dict[str, Any] = {"noise": "infer"} if noise else {}
        space = Space(parameters, rules=rules)
        StudySettings.of(space, outcomes=goals)
        return study_text(space, goals, name=name, batch=batch, options=options, shared=shared)

    def _named(self, what: str, known: dict[str, Any], others: dict[str, Any]) -> str | None:
        """The name of the next parameter or outcome; None if there are no more."""
        while True:
            more = " [no more]" if self._may_end(known) else ""
            name = self.ask(f"{what} {len(known) + 1}, its name{more}: ")
            if not name and self._may_end(known):
                return None
            try:
                if not name:
                    raise InvalidInput(f"a study needs {'a parameter' if what == 'Parameter' else 'a goal'}.")
                refuse_taken(name, [*known, *others])
            except InvalidInput as error:
                self.say(f"  {error}")
            else:
                return name

    @staticmethod
    def _may_end(known: dict[str, Any]) -> bool:
        """Whether there is enough: a parameter, or an outcome to optimize."""
        goals = [one for one in known.values() if isinstance(one, Goal)]
        return bool(known) and (not goals or any(isinstance(goal, Maximize | Minimize) for goal in goals))

    def _until(self, question: str, read: Callable[[str], T]) -> T:
        """Ask until the answer can be understood, and return its meaning."""
        while True:
            text = self.ask(question)  # an error of the question itself, such as the end of the input, is no bad answer
            try:
                return read(text)
            except InvalidInput as error:
                self.say(f"  {error}")


def parameter_of(text: str) -> Parameter:
    """The parameter that a line describes: "20 to 120 step 5 °C", or "DMF, MeCN, water"."""
    if (found := _RANGE.fullmatch(text.strip())) is not None:
        low, high, rest = _number(found[1]), _number(found[2]), found[3]
        step = _STEP.search(rest)
        rest = _STEP.sub(" ", rest)
        typed = rest.replace(",", " ").split()
        log, whole = "log" in typed, any(word in ("whole", "integer", "int") for word in typed)
        units = " ".join(word for word in typed if word not in ("log", "whole", "integer", "int", "numbers"))
        if whole:
            return Int(int(low), int(high), log=log, step=int(_number(step[1])) if step else 1, units=units)
        return Float(low, high, log=log, step=_number(step[1]) if step else None, units=units)
    parts = [part.strip() for part in re.split(r"[,;]\s|;|,(?!\d)", f"{text} ") if part.strip()]
    if len(parts) < 2:
        raise InvalidInput("a range such as 20 to 120, or two or more choices with commas between them.")
    try:
        return Discrete([_number(part) for part in parts])
    except InvalidInput:
        return Categorical(parts)


def _in_words(p: Parameter) -> str:
    """The parameter as it was understood: "from 20 to 80 %"."""
    if not _is_range(p):
        return f"one of {', '.join(str(value) for value in p.decode(p.grid()))}"
    said = f"from {p.low:g} to {amount(f'{p.high:g}', units_of(p))}"
    said += f" in steps of {p.step:g}" if p.step is not None and not (_is_whole(p) and p.step == 1) else ""
    return said + ", whole numbers" * _is_whole(p) + ", logarithmic" * p.log


def _is_range(p: Parameter) -> TypeGuard[Number]:
    """Whether it is all numbers between two bounds, or a step apart, and no list of some."""
    return has(p, Number) and (p.step is not None or p.count is None)


def _is_whole(p: Number) -> bool:
    return isinstance(p.low, int)


def goal_of(text: str) -> Goal:
    """The goal that a line describes: "maximize %", "at least 95 %"; "" means maximize."""
    text = text.strip()
    if (found := _LIMIT.fullmatch(text)) is not None:
        if found[1]:
            return Between(_number(found[1]), _number(found[2]), units=found[7])
        if found[3]:
            return AtLeast(_number(found[4]), units=found[7])
        return AtMost(_number(found[6]), units=found[7])
    word, _, units = text.partition(" ")
    for kind, short in ((Maximize, ("", "max", "up")), (Minimize, ("min", "down"))):
        if word.casefold() in short or word.casefold().rstrip(",") in (
            f"{kind.__name__.lower()}",
            f"{kind.__name__.lower()[:-2]}se",
        ):
            return kind(units=units)
    raise InvalidInput("maximize, minimize, at least 95, at most 5, or between 6 and 8, with the units behind it.")


def sums_of(text: str, parameters: dict[str, Parameter]) -> list[Rule]:
    """The rule that a line describes: "resin, hardener, filler = 100"; none for an empty line."""
    if not text.strip() or text.strip().casefold() in ("none", "no", "n"):
        return []
    found = _SUM.fullmatch(text.strip())
    if found is None:
        raise InvalidInput("names and what they add up to, such as: resin, hardener, filler = 100.")
    folded = {name.casefold(): name for name in parameters}
    given = [part.strip() for part in re.split(r"[,+;]", found[1])]
    names = [folded.get(name.casefold(), name) for name in given]
    rule = sum_to(names, _number(found[2]))
    Space(parameters, rules=[rule])
    return [rule]


def shared_of(text: str, parameters: dict[str, Parameter]) -> Mapping[str, int]:
    """The parameters that a line names, each with one value in a batch; none for an empty line."""
    if text.casefold() in ("", "none", "no", "n"):
        return {}
    folded = {name.casefold(): name for name in parameters}
    given = [part.strip() for part in re.split(r"[,;]", text)]
    return BatchRules.of(Space(parameters), {}, [folded.get(name.casefold(), name) for name in given]).shared


def yes_or_no(text: str) -> bool:
    """Whether a line says yes; an empty line does."""
    if text.casefold() in ("", "y", "yes"):
        return True
    if text.casefold() in ("n", "no"):
        return False
    raise InvalidInput("y for yes, or n for no.")


def count_of(text: str) -> int:
    """The number in a line, 1 or more; the default for an empty line."""
    if not text:
        return BATCH
    if not text.isdecimal() or int(text) < 1:
        raise InvalidInput("a whole number, 1 or more.")
    return int(text)


def _number(text: str) -> float:
    return Marks(frozenset(",") if re.fullmatch(r"\d{1,3},\d{3}", text) else frozenset()).number(text)
