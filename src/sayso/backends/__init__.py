"""The only sockets and the only inference: one module for each way to run a model."""
