"""``sayso score``: uncertainty scores for answers that the user already has."""
