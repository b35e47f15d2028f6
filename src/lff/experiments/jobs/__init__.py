"""The kinds of jobs, one family a file; their tags are in ``lff.launch.job``."""
