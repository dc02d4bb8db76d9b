"""Laws, their checks, and the errors of broken laws, for surrogates and strategies alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from believer.errors import BelieverError, MissingExtra

Subject = TypeVar("Subject")
"""The subject of a law: a surrogate, or a strategy with the parts that it works with."""


class ContractBroken(BelieverError, AssertionError):
    """A member breaks a law of the contract; the message says which law, what was observed, and what to do."""

    def __init__(self, member: str, law: str, seen: str, remedy: str) -> None:
        super().__init__(member, law, seen, remedy)
        self.member, self.law, self.seen, self.remedy = member, law, seen, remedy

    def __str__(self) -> str:
        return f"{self.member} breaks the contract.\nlaw:   {self.law}\nseen:  {self.seen}\nto do: {self.remedy}"


class Breach(Exception):
    """The observation of a failed check; its caller adds the law and the remedy."""


def require(kept: bool, seen: str) -> None:
    """Raise Breach with the text ``seen`` unless the law was ``kept``."""
    if not kept:
        raise Breach(seen)


@dataclass(frozen=True, slots=True)
class Law:
    """A law in words, the capability to which it applies (None: all members), its check, and what to do if it is
    broken."""

    text: str
    needs: type | None
    holds: Callable[[Any], None]
    remedy: str


def law(remedy: str, needs: type | None = None) -> Callable[[Callable[[Subject], None]], Law]:
    """Make a law of a check: its text is the name of the function."""

    def made(holds: Callable[[Subject], None]) -> Law:
        return Law(holds.__name__.replace("_", " "), needs, holds, remedy)

    return made


def laws_in(names: Mapping[str, object]) -> tuple[Law, ...]:
    """The laws among the names of a module, in the order in which they are written there."""
    return tuple(value for value in names.values() if isinstance(value, Law))


@dataclass(frozen=True, slots=True)
class Check:
    """A law and the member to which it applies; call it to check the law. ``str`` is the law in words."""

    law: Law
    subject: Any
    member: str

    def __call__(self) -> None:
        """Raise :class:`ContractBroken` if the law is broken, or if the member fails while it is tried."""
        try:
            self.law.holds(self.subject)
        except MissingExtra:
            raise
        except Exception as error:
            seen = str(error) if isinstance(error, Breach | BelieverError) else f"{type(error).__name__}: {error}"
            raise ContractBroken(self.member, self.law.text, seen, self.law.remedy) from error

    def __str__(self) -> str:
        return self.law.text


@dataclass(frozen=True, slots=True)
class Summary:
    """The laws that a member keeps, and those that do not apply to it, each with the missing capability."""

    member: str
    passed: tuple[str, ...]
    not_applicable: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = [f"{self.member} keeps the contract: {len(self.passed)} laws checked."]
        lines += [f"  kept: {text}" for text in self.passed]
        lines += [f"  not applicable, for it is not {needs}: {text}" for text, needs in self.not_applicable]
        return "\n".join(lines)
