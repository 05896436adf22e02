"""What several tests share: invented models and worlds, records, and the frozen numbers."""
