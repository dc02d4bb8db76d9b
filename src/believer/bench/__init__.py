"""The bench: batch strategies on surrogates, and peers, race each other on problems, and a report says which to use."""
