"""Doors to other libraries, each in a file of its own that loads its library only when it is used."""

__all__ = ["dask", "gest", "optuna", "ray", "sklearn"]
