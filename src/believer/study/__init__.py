"""What happens to a study: its settings, its events and the journal that keeps them, its trials, its models."""
