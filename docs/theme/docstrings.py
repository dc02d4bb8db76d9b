"""Docstrings as the API reference reads them: options are filled in, and parameters are written as griffe expects."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|data|mod|attr):`~?([\w.]+)`")
SECTION = re.compile(r"(^(?:Parameters|Attributes)\n-+\n)(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"^\s*\{options\}$", re.MULTILINE)
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)$", re.MULTILINE)


def plain(text: str) -> str:
    """A docstring in the Markdown and the sections of NumPy's style: a description on a line of its own."""
    text = SECTION.sub(lambda found: found[1] + ENTRY.sub(r"\1\n    \2", found[2]), text)
    return ROLE.sub(lambda role: f"`{role[1].rpartition('.')[2]}`", text)


class Docstrings(griffe.Extension):
    """Rewrites the docstrings of a package."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Go through all that is not an alias."""
        waiting: list[griffe.Object] = [pkg]
        for one in waiting:
            waiting += [member for member in one.members.values() if isinstance(member, griffe.Object)]
            if one.docstring is not None:
                text = one.docstring.value
                if OPTIONS.search(text):  # filled in when the module is imported
                    text = inspect.getdoc(imported(one)) or text
                    listed(one, pkg["study.options.Options"])
                if isinstance(one, griffe.Class) and "TypedDict" in map(
                    str, one.bases
                ):  # it has keys, and no parameters
                    text = text.replace("Parameters\n----------", "Attributes\n----------")
                one.docstring.value = plain(text)


def imported(one: griffe.Object) -> Any:
    """The object itself."""
    value: Any = import_module(one.module.path)
    for name in one.path.removeprefix(f"{one.module.path}.").split("."):
        value = getattr(value, name)
    return value


def listed(one: griffe.Object, options: griffe.Class) -> None:
    """Give a function, or a class that is made with them, the options one by one."""
    function = one.members.get("__init__") if isinstance(one, griffe.Class) else one
    if isinstance(function, griffe.Function) and "options" in function.parameters:
        del function.parameters["options"]
        for name, option in options.attributes.items():
            kind = griffe.ParameterKind.keyword_only
            function.parameters.add(griffe.Parameter(name, annotation=option.annotation, kind=kind, default="..."))
