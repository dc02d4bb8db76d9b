"""The paper, done again: its twelve experiments, its tables and figures, and a ledger of its claims.

``believer reproduce`` runs it. The way through the room: ``plan`` cuts the experiments into cells, ``work`` does a
cell, ``results`` finds finished cells again; ``tables``, ``figures`` and ``ledger`` are made from these alone, and
``report`` writes them down. ``numbers`` holds what the paper prints, ``setup`` its set-up as members.
"""
