"""Models that Ray's actors run, on this machine or on a cluster."""
