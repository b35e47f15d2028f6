"""``python -m lff``: the command line, where the script ``lff`` is not on the path."""

from lff.cli.main import main

main()
