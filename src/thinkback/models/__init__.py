"""What runs inference: embedders, rerankers and chat models, and their verified weights."""
