"""The texts of a file of cells: its encoding, and numbers in the formats of any country."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from believer.arrays import LARGEST, shown
from believer.errors import InvalidInput

_BLANK = " '\u2019\u00a0\u202f\u2009"
_NUMBER = re.compile(r"([+-]?)(\d[\d.," + _BLANK + r"]*|[.,]\d+)(?:[eE]([+-]?\d{1,4}))?")
_GROUPS = re.compile(r"\d{1,3}([.," + _BLANK + r"])\d{3}(?:\1\d{3})*")
_EXCEL_ERROR = re.compile(r"#(?:[A-ZÄÖÜ0-9/]+[!?]|N/A|NV|NUM!|#+)", re.IGNORECASE)


def decoded(data: bytes, file: str | PathLike[str]) -> str:
    """The text of a file in any of the encodings that spreadsheets use."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encodings: tuple[str, ...] = ("utf-16",)
    else:
        encodings = ("utf-8-sig", "cp1252")
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text.count("\0") * 100 <= len(text):
            return text.replace("\0", "\ufffd")
    raise InvalidInput(f"{file} is not a text, as a CSV file is. Is it the right file?")


def text_of(cell: Any) -> str:
    """A cell as one line of text, "" for an empty one."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = cell if isinstance(cell, str) else str(cell)
    return " ".join(unicodedata.normalize("NFKC", text).replace("\u2212", "-").split())


class Ambiguous(InvalidInput):
    """A text that may be one number or another."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The decimal marks that a sheet uses, which distinguish 1,234 from 1.234.

    Parameters
    ----------
    seen : "." or "," or both.
    """

    seen: frozenset[str] = frozenset()

    @staticmethod
    def of(typed: Iterable[Any], others: Iterable[Any] = (), hint: str = "") -> Marks:
        """The marks in the cells of a sheet.

        Parameters
        ----------
        typed : the cells that people fill in.
        others : all other cells. A program may have written them, so they can only show that there is a decimal comma.
        hint : the mark to assume if no cell has one, "," or "".
        """
        seen = _seen_in(typed)
        if not seen and ("," in _seen_in(others) or hint == ","):
            return Marks(frozenset(","))
        return Marks(seen)

    def number(self, cell: Any, units: str = "") -> float:
        """The number in a cell; InvalidInput if it is not a number or is ambiguous."""
        if isinstance(cell, bool):
            raise InvalidInput(f"{shown(cell)} is not a number.")
        if not isinstance(cell, str) and isinstance(cell, int | float):
            return _within(float(cell), str(cell))
        text = _bare(text_of(cell), units)
        found = _NUMBER.fullmatch(text)
        if found is None:
            raise InvalidInput(_why_no_number(text_of(cell)))
        sign, digits, power = found.groups()
        return _within(float(f"{sign}{self._plain(digits.strip(), text)}e{power or 0}"), text)

    def _plain(self, digits: str, text: str) -> str:
        """The digits with a point as the decimal mark, without separators of thousands."""
        if _GROUPS.fullmatch(digits) and digits[0] != "0":
            mark = _GROUPS.fullmatch(digits)[1]  # type: ignore[index]
            if mark not in ".,":
                return re.sub(r"\D", "", digits)
            if digits.count(mark) > 1 or self.seen == {"," if mark == "." else "."}:
                if digits.count(mark) == 1 and mark == ".":
                    raise Ambiguous(_ambiguous(text))  # 1.234 beside 12,5: programs write this, too
                return digits.replace(mark, "")
            if mark == "." or self.seen == {mark}:
                return digits.replace(mark, ".")
            raise Ambiguous(_ambiguous(text))
        marks = [mark for mark in ".," if mark in digits]
        decimal = max(marks, key=digits.rfind, default="")
        whole, _, rest = digits.rpartition(decimal) if decimal else (digits, "", "")
        groups = re.split(r"[.," + _BLANK + "]", whole)
        in_order = len(groups) == 1 or (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:]))
        one_kind = len({c for c in whole if not c.isdigit()}) <= 1 and decimal not in whole
        if not in_order or (not one_kind and decimal) or (rest and not rest.isdigit()):
            raise InvalidInput(f"{shown(text)} is not a number.")
        return f"{''.join(groups) or '0'}.{rest or '0'}"


def _seen_in(cells: Iterable[Any]) -> frozenset[str]:
    return frozenset(mark for cell in cells if isinstance(cell, str) and (mark := decimal_mark(text_of(cell))))


def decimal_mark(text: str) -> str:
    """The decimal mark of a number whose mark cannot be a separator of thousands; "" for any other text."""
    found = _NUMBER.match(text)
    if found is None:
        return ""
    digits = found[2].strip()
    marks = {mark for mark in ".," if mark in digits}
    if len(marks) == 2:
        return max(marks, key=digits.rfind)
    if len(marks) == 1:
        (mark,) = marks
        grouped = _GROUPS.fullmatch(digits)
        if digits.count(mark) == 1 and (grouped is None or digits[0] == "0"):
            return mark
        if digits.count(mark) > 1 and grouped is not None:
            return "," if mark == "." else "."
    return ""


def _bare(text: str, units: str) -> str:
    """A cell without its units and without an apostrophe that marks text."""
    units = text_of(units)
    if units and text.casefold().endswith(units.casefold()):
        text = text[: -len(units)].rstrip()
    return text.removeprefix("'")


def _within(number: float, text: str) -> float:
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise InvalidInput(f"{shown(text)} is not a number within ±{LARGEST:g}.")
    return number


def _ambiguous(text: str) -> str:
    digits = re.sub(r"\D", "", text)
    return f"{shown(text)} may be {digits} or {digits[:-3]}.{digits[-3:]}; write it without separators of thousands."


def _why_no_number(text: str) -> str:
    """A sentence that says why a cell is not a number."""
    if _EXCEL_ERROR.fullmatch(text):
        return f"{shown(text)} is an error of the spreadsheet; mend its formula, or write failed."
    if re.match(r"[<>≤≥~≈]", text):
        return f"{shown(text)} is not a number; write the number that is to count, such as the limit of detection."
    if text.endswith("%"):
        return f"{shown(text)} is a percentage, and the column is not in %; write a number in the units of the column."
    if re.search(r"[A-Za-z]{3}", text) and re.search(r"\d", text) and len(text) < 12:
        return f"{shown(text)} is not a number. Has the spreadsheet made a date of it, or are these other units?"
    return f"{shown(text)} is not a number; write a number, failed, not run, or nothing."
