"""Runs: asking, measuring and comparing, on top of everything else."""
