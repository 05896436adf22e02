"""Models in this process, opened with transformers."""
