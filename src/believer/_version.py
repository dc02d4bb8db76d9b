"""The version, in a file of its own so that every room can read it."""

__version__ = "0.2.0"
