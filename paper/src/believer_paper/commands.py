"""The subcommands that this distribution adds to ``believer``; a module is loaded when its command is called."""

from believer.cli import verb_in

REPRODUCE = verb_in("believer_paper.command", "run the paper's experiments again, and judge its claims")
TABLE1 = verb_in("believer_paper.table1", "measure the paper's Table 1: which surrogates can be lied to")
