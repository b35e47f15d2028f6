"""Tools for finished runs: load, read, compare, export, play, spectra."""
