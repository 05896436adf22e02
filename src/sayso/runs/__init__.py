"""Runs: ask, judge, measure and compare, whatever the protocol."""
