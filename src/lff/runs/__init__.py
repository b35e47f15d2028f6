"""Finished and running runs: read, load, compare, export, play, spectra.

Nothing is imported here, so that :mod:`lff.runs.read` works without torch.
"""
