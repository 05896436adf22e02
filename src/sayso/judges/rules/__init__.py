"""The offline judge: stance by patterns, right or wrong by values."""
