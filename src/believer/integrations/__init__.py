"""Doors to other libraries, each in a file or folder of its own that loads its library only when it is used, if at all."""

__all__ = ["dask", "skopt"]
