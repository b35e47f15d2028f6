"""The outputs on the page for users of Stable-Baselines3 are what its code prints."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/plugins/sb3.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_output_is_what_the_code_before_it_prints():
    names, printed, shown = {}, "", 0
    for language, code in BLOCK.findall(PAGE.read_text()):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(code, names)
            printed = output.getvalue()
        elif not code.startswith("pip install"):
            assert printed == code
            shown += 1
    assert shown == 3
