"""Plug-in for pytest: the processor time of test files, children included.

On a shared machine seconds of the clock say little.  Also with ``-n``:

python -m pytest -p tests.processor_time -n 3 --dist loadfile -m "not system"
"""

import os
from collections import Counter

import pytest

MOST = 30
KEY = "processor time"


def spent():
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.stash[begun] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    result = yield
    item.user_properties.append((KEY, spent() - item.stash[begun]))
    return result


def pytest_terminal_summary(terminalreporter):
    files, tests = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "teardown":
                seconds = dict(report.user_properties).get(KEY, 0.0)
                files[report.nodeid.partition("::")[0]] += seconds
                tests[report.nodeid] = seconds
    terminalreporter.section(f"processor time: {sum(files.values()):.0f} s")
    for name, seconds in [*files.most_common(MOST), *tests.most_common(MOST)]:
        terminalreporter.write_line(f"{seconds:8.1f} s  {name}")


begun = pytest.StashKey[float]()
