"""The derived index beside a store: immutable segments in mapped files, which may be deleted at any time."""
