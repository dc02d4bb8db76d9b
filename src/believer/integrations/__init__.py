"""Doors to other libraries, each in a file or folder of its own that loads its library only where it is used."""

__all__ = ["dask", "gest", "optuna", "ray", "sklearn", "skopt"]
