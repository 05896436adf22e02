"""Everything that sayso keeps on disk: run folders, tables, the cache of replies."""
