"""Launchers: run jobs on this machine or on a cluster, whatever the jobs do."""
