"""The paper's own set-up as members of this library: surrogates, a maximizer, a strategy."""
