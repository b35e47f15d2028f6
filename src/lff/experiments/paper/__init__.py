"""Figures, lemmas and sentences of the paper, one file each."""
