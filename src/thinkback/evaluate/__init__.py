"""Measure recall on public benchmarks or on your own judged questions, and learn a recipe's weights from them."""
