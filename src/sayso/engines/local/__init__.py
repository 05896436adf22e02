"""What engines share whose models run in this process: prompts, decoding, draws, records."""
