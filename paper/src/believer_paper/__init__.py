"""The reproduction of the paper: its twelve experiments, its tables and figures, and a ledger of its claims.

``believer reproduce`` runs it. ``plan`` cuts the experiments into cells, ``work`` runs a cell, and ``results`` looks up
finished cells. ``tables``, ``figures`` and ``ledger`` are made from finished cells alone, and ``report`` writes them to
files. ``numbers`` holds the numbers that the paper prints, ``setup`` its surrogates, its maximizer and its strategy.
"""
