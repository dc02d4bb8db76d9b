"""The work of cells, a file for each kind."""
