"""Docstrings of public names list their parameters, so that a documentation generator can render them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, is_typeddict

from each import each

import believer
from believer import plugins

SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"(\w+(?:, \w+)*) : \S")


def public_names() -> dict[str, Any]:
    """Classes and functions behind the two doors, those of a public module too."""
    found = {name: getattr(believer, name) for name in (*believer.__all__, *believer._LATER) if name != "plugins"}
    found |= {name: getattr(plugins, name) for name in plugins.__all__}
    for module in [value for value in found.values() if isinstance(value, ModuleType)]:
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    ours = {
        name: value
        for name, value in found.items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("believer")
    }
    return dict(sorted(ours.items()))


PUBLIC = public_names()


def methods(cls: type) -> dict[str, Callable[..., Any]]:
    """Public ones, static, of the class and inherited, where they were written here."""
    found = {name: getattr(cls, name) for name in dir(cls) if not name.startswith("_")}
    here = cls.__module__.split(".")[0]
    return {
        name: value
        for name, value in found.items()
        if (inspect.isfunction(value) or inspect.ismethod(value)) and value.__module__.split(".")[0] == here
    }


def parameters(of: Callable[..., Any]) -> list[str]:
    """What a caller passes by name or position: without ``self`` and catch-alls; of a dict with types, its keys."""
    if is_typeddict(of):
        return [*of.__annotations__]
    if inspect.isclass(of) and not inspect.isfunction(of.__init__):
        return []
    found = inspect.signature(of).parameters.values()
    return [p.name for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]


def expected(value: Any) -> list[str]:
    """What the docstring of a public name must list: what is passed, and fields that are not passed but may be read."""
    passed = parameters(value)
    if not dataclasses.is_dataclass(value):
        return passed
    names = [part.name for part in dataclasses.fields(value)]
    return passed + [name for name in names if name not in passed and not name.startswith("_")]


def listed(doc: str | None, section: str) -> list[str]:
    """Names under a heading; a line there that is no entry of a list counts as one, since it would be rendered so."""
    found: list[str] = []
    for heading, body in SECTION.findall(inspect.cleandoc(doc or "")):
        for line in body.splitlines() if heading == section else ():
            if line and not line.startswith(" "):
                entry = ENTRY.match(line)
                found += [line] if entry is None else entry[1].split(", ")
    return found


def offenses(value: Any) -> list[str]:
    """What the docstrings of a public name and of its methods fail to list, and what they list in vain."""
    docs = [value.__doc__, value.__init__.__doc__ if inspect.isclass(value) else None]
    passed = [name for doc in docs for name in listed(doc, "Parameters")]
    read = [name for doc in docs for name in listed(doc, "Attributes")]
    found = [f"{name} is not listed" for name in expected(value) if name not in passed + read]
    found += [f"{name} is no parameter" for name in passed if name not in parameters(value)]
    found += [f"{name} is no attribute" for name in read if name not in (*expected(value), *dir(value))]
    for name, method in methods(value).items() if inspect.isclass(value) else ():
        found += [f"{name}: {offense}" for offense in method_offenses(method)]
    return found


def method_offenses(method: Callable[..., Any]) -> list[str]:
    """A method with two or more parameters lists them, or names each in double backticks."""
    doc, passed = method.__doc__ or "", parameters(method)
    names = listed(doc, "Parameters")
    found = [f"{name} is no parameter" for name in names if name not in passed]
    if len(passed) > 1:
        missing = [name for name in passed if name not in names and not re.search(rf"``{name}\b[^`]*``", doc)]
        found += [f"{name} is not listed" for name in missing]
    return found


def test_a_public_name_lists_its_parameters() -> None:
    found = {name: offenses(value) for name, value in PUBLIC.items()}
    assert {name: what for name, what in found.items() if what} == {}


def test_every_kind_of_public_name_is_looked_at() -> None:
    assert {"Optimizer", "minimize", "GPBUCB", "Verdict", "Space", "propose", "Surrogate", "TrialError"} <= set(PUBLIC)


@dataclass
class Good:
    """A class.

    Parameters
    ----------
    one, two : numbers,
        of any size.

    Attributes
    ----------
    three : another.
    four : the sum.
    """

    one: int
    two: int
    three: int = field(init=False, default=0)

    @property
    def four(self) -> int:
        return self.one + self.two

    def alone(self, x: int) -> None:
        """Nothing."""

    def named(self, x: int, *rest: int, y: int) -> None:
        """``x`` and ``y.real``."""

    def in_a_list(self, x: int, y: int) -> None:
        """Nothing.

        Parameters
        ----------
        x : a number.
        y : another.
        """


class Unlisted:
    """No list."""

    def __init__(self, one: int) -> None:
        """``one`` is a number."""


@dataclass
class UnreadField:
    """A field that is not passed."""

    one: int = field(init=False, default=0)


def in_vain(one: int) -> None:
    """Nothing.

    Parameters
    ----------
    one : a number.
    two : another.
    """


class AttributeInVain:
    """Nothing.

    Attributes
    ----------
    one : a number.
    """


def prose_after_the_list(one: int) -> None:
    """Nothing.

    Parameters
    ----------
    one : a number.

    More words.
    """


class Method:
    """Nothing."""

    def unnamed(self, one: int, two: int) -> None:
        """Of ``one`` and two."""


class MethodInVain:
    """Nothing."""

    def listed(self, one: int) -> None:
        """Nothing.

        Parameters
        ----------
        two : a number.
        """


@each(
    ("value", "found"),
    [
        (Good, []),
        (Unlisted, ["one is not listed"]),
        (UnreadField, ["one is not listed"]),
        (in_vain, ["two is no parameter"]),
        (AttributeInVain, ["one is no attribute"]),
        (prose_after_the_list, ["More words. is no parameter"]),
        (Method, ["unnamed: two is not listed"]),
        (MethodInVain, ["listed: two is no parameter"]),
    ],
)
def test_an_offense_is_found(value: Any, found: list[str]) -> None:
    assert offenses(value) == found
