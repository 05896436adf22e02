"""A learned reader of stance that is not in use yet; see README.md."""
