"""Leaf mathematics as free functions: nothing here knows what a surrogate or a batch is."""
