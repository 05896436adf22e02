"""Decisions in production: when to trust an answer, and whether that still holds."""
