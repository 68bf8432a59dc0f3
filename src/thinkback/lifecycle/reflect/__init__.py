"""Consolidation ("dreaming"): promote what matters, link what is alike, and write a reflection for every theme."""
