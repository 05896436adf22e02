"""Who reads answers: rules or a model. Replies become verdicts, claims and meanings."""
