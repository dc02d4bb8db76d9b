"""Looking at surrogates, batches and studies: figures, and measures of what a lie does."""
