"""Launchers: they run jobs, here or on a cluster, and know nothing of what a job does."""
