"""A study: its settings, its events and the journal that stores them, its trials and its models."""
