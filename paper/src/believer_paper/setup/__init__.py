"""The paper's own set-up as parts for this library: surrogates, a maximizer, a strategy."""
