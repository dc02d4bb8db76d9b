"""Commands of other packages: an entry point of the group ``believer.commands`` names a ``Verb``."""

import argparse
import re
import sys
import types
from importlib.metadata import EntryPoint

import pytest
from command_runs import assert_one_line, run

from believer import cli
from believer.cli import GROUP, Verb, verb_in

PLUGGED = {"greet": "plugged:GREET", "demo": "plugged:GREET", "broken": "plugged:BROKEN", "lost": "no_such_module:X"}


@pytest.fixture(autouse=True)
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four entry points: one sound, one with a name of ours, one that is no verb, one that cannot be imported."""
    module = types.ModuleType("plugged")

    def take_a_name(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")

    def greet(arguments: argparse.Namespace) -> int:
        print(f"hello {arguments.name}")
        return 3

    module.__dict__.update(GREET=Verb("greets", take_a_name, greet), BROKEN=7)
    monkeypatch.setitem(sys.modules, "plugged", module)
    points = tuple(EntryPoint(name, value, GROUP) for name, value in PLUGGED.items())
    monkeypatch.setattr(cli, "entry_points", lambda group: points if group == GROUP else ())


def test_a_command_of_another_package_is_called_with_its_arguments() -> None:
    ran = run("greet", "you")
    assert (ran.code, ran.out, ran.err) == (3, "hello you\n", "")


def test_a_command_of_ours_is_not_replaced() -> None:
    assert cli._verbs()["demo"] is cli.VERBS["demo"]


@pytest.mark.parametrize(("name", "why"), [("broken", "is no believer.cli.Verb"), ("lost", "ModuleNotFoundError")])
def test_a_command_that_does_not_load_says_so_and_disturbs_no_other(name: str, why: str) -> None:
    assert_one_line(run(name), f"the command '{name}' does not load .*{why}.*Reinstall")
    assert run("greet", "them").code == 3


def test_the_module_of_a_verb_is_loaded_when_it_is_called() -> None:
    verb = verb_in("no_such_module", "would do something")
    assert verb.help == "would do something"
    with pytest.raises(ModuleNotFoundError):
        verb.run(argparse.Namespace())


def test_without_the_bench_its_verb_says_what_to_install() -> None:
    for words in (("bench",), ("bench", "--problems", "branin"), ("bench", "--help")):
        assert_one_line(run(*words), r"this needs believer-bench; install it with: pip install 'believer\[bench\]'")
    assert "believer[bench]" in cli._verbs()["bench"].help


def test_a_bench_that_is_installed_takes_the_place_of_that_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "entry_points", lambda group: (EntryPoint("bench", "plugged:GREET", GROUP),))
    assert run("bench", "you").out == "hello you\n"


def test_the_help_lists_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    listed = re.findall(r"^  (\w+) +(.+)$", capsys.readouterr().out.partition("programming:")[2], re.MULTILINE)
    assert dict(listed) == {name: verb.help for name, verb in cli._verbs().items()}
    assert len(listed) == len(cli._verbs())
