"""Print the oldest version that pyproject.toml allows of each package, as pip constraints."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for line in [*project["dependencies"], *(one for name in sys.argv[1:] for one in extras[name])]:
    if found := re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", line):
        sys.stdout.write(f"{found[1]}=={found[2]}\n")
