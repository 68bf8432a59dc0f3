"""The life of a memory: tiers, confidence, archive, audit and forgetting for good."""
