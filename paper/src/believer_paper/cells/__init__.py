"""What is done for a cell, a file for each kind."""
