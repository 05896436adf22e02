"""A language model as judge: its prompts, its replies, what of them counts."""
