"""Checks before money is spent: of a model or an endpoint, and of a judge."""
