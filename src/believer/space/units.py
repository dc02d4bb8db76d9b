"""Units of parameters and goals: a text that is shown beside numbers, and never read or converted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from believer.arrays import shown
from believer.errors import InvalidInput

LONGEST = 40
"""The largest number of characters of a unit."""


def units_of(part: object) -> str:
    """The units of a parameter or a goal; "" if it has none."""
    units = getattr(part, "units", "")
    return units if isinstance(units, str) else ""


def keep_units(part: object) -> None:
    """Check the ``units`` of a frozen parameter or goal, and keep them without blanks around them."""
    units = part.units  # type: ignore[attr-defined]
    text = units.strip() if isinstance(units, str) else None
    if text is None or not text.isprintable() or len(text) > LONGEST:
        raise InvalidInput(
            f'units must be a text of one line, such as "°C", {LONGEST} long at most; got {shown(units)}.'
        )
    object.__setattr__(part, "units", text)


def call_of(part: Any) -> str:
    """The repr of a dataclass as Python writes it, with its ``units``, ``when`` and ``likely`` at the end if any."""
    said = [f"{one.name}={getattr(part, one.name)!r}" for one in fields(part) if one.repr]
    said += [f"units={part.units!r}"] if part.units else []
    if when := getattr(part, "when", None):
        short = {name: values[0] if len(values) == 1 else [*values] for name, values in when.items()}
        said.append(f"when={short!r}")
    said += [f"likely={part.likely!r}"] if getattr(part, "likely", None) else []
    return f"{type(part).__name__}({', '.join(said)})"


def config_of(units: str) -> dict[str, str]:
    """The entry of a config for ``units``: empty if there are none."""
    return {"units": units} if units else {}


def labeled(name: str, units: str) -> str:
    """ "T (°C)", or the ``name`` alone."""
    return f"{name} ({units})" if units else name


def amount(number: str, units: str) -> str:
    """ "80 °C", or the ``number`` alone."""
    return f"{number} {units}" if units else number


def units_by_name(parts: Mapping[str, object]) -> dict[str, str]:
    """The units of those parameters or goals that have any."""
    return {name: units for name, part in parts.items() if (units := units_of(part))}
