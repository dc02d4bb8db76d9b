"""Integrations with other libraries. Each is a file or folder of its own, and imports its library only when used."""

__all__ = ["dask", "gest", "optuna", "ray", "sklearn", "skopt"]
