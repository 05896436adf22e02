"""Reuse of cached answers: how old they are, and whether the same model still gives them."""
