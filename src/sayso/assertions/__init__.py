"""Assertions about the numbers of a run, decided on their intervals: ``sayso assert``.

A gate says of each assertion that it holds, that it does not, or that this run cannot say yet, and
how many questions would. :mod:`sayso.assertions.grammar` reads assertions, ``decide`` and
``needed`` hold the statistics, ``check`` applies them to run folders, ``written`` makes the files
that other tools read, ``pytest_plugin`` makes test items of them.
"""
