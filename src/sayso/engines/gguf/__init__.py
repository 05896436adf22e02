"""Models in GGUF files, run by llama.cpp in this process."""
