"""Answers from the cache: how old they are, whether the model behind them is still the same, and
asking everything anew."""
