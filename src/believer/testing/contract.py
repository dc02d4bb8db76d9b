"""What a law is, how it is checked, and what is said when it is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from believer.errors import BelieverError, MissingExtra
from believer.surrogates.protocols import Surrogate


class ContractBroken(BelieverError, AssertionError):
    """A surrogate breaks a law of the contract; the text says which, what was seen, and what to do."""

    def __init__(self, surrogate: str, law: str, seen: str, remedy: str) -> None:
        super().__init__(surrogate, law, seen, remedy)
        self.surrogate, self.law, self.seen, self.remedy = surrogate, law, seen, remedy

    def __str__(self) -> str:
        return f"{self.surrogate} breaks the contract.\nlaw:   {self.law}\nseen:  {self.seen}\nto do: {self.remedy}"


class Breach(Exception):
    """What a check has seen; its caller knows the law and the remedy."""


def require(kept: bool, seen: str) -> None:
    """Breach, with what was ``seen``, unless the law was ``kept``."""
    if not kept:
        raise Breach(seen)


@dataclass(frozen=True, slots=True)
class Law:
    """A law in words, the capability whose owners it binds (None: all), its check, and what to do when it is broken."""

    text: str
    needs: type | None
    holds: Callable[[Surrogate], None]
    remedy: str


def law(remedy: str, needs: type | None = None) -> Callable[[Callable[[Surrogate], None]], Law]:
    """Make a law of a check: its text is the name of the function."""

    def made(holds: Callable[[Surrogate], None]) -> Law:
        return Law(holds.__name__.replace("_", " "), needs, holds, remedy)

    return made


@dataclass(frozen=True, slots=True)
class Check:
    """A law that binds a surrogate; call it to see whether it is kept. ``str`` is the law."""

    law: Law
    surrogate: Surrogate

    def __call__(self) -> None:
        """Raise :class:`ContractBroken` if the law is broken, or if the surrogate fails while it is tried."""
        try:
            self.law.holds(self.surrogate)
        except MissingExtra:
            raise
        except Exception as error:
            seen = str(error) if isinstance(error, Breach | BelieverError) else f"{type(error).__name__}: {error}"
            name = type(self.surrogate).__name__
            raise ContractBroken(name, self.law.text, seen, self.law.remedy) from error

    def __str__(self) -> str:
        return self.law.text


@dataclass(frozen=True, slots=True)
class Summary:
    """Laws that a surrogate was seen to keep, and those that do not bind it, each with the capability it lacks."""

    surrogate: str
    passed: tuple[str, ...]
    not_applicable: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = [f"{self.surrogate} keeps the contract: {len(self.passed)} laws checked."]
        lines += [f"  kept: {text}" for text in self.passed]
        lines += [f"  not applicable, for it is not {needs}: {text}" for text, needs in self.not_applicable]
        return "\n".join(lines)
