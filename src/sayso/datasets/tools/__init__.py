"""Files of answers that other tools write, read as rows of :mod:`sayso.datasets.answer_rows`."""
