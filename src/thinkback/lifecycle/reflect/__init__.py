"""Consolidation ("dreaming"): promote important memories, link similar ones, and write a reflection for every theme."""
