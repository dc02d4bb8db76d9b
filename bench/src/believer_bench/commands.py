"""The commands that this distribution adds to ``believer``; each is loaded when it is called."""

from believer.cli import verb_in

BENCH = verb_in("believer_bench.command", "race batch strategies, and peers, on problems or your own function")
