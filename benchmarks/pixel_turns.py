"""Two clocks, and runs that take turns under them."""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Clocks(NamedTuple):
    """Seconds on the wall, and of processor time of this process."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> "Clocks":
        return cls(time.perf_counter(), time.process_time())

    def since(self, start: "Clocks") -> "Clocks":
        return Clocks(self.wall - start.wall, self.cpu - start.cpu)


def take_turns(runs: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, list[Clocks]]:
    """Return what every run took, round by round; the first call of each compiles and is left out.

    Nobody always follows the same one.
    """
    names = list(runs)
    for name in names:
        runs[name]()
    times: dict[str, list[Clocks]] = {name: [] for name in names}
    for number in range(rounds):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            start = Clocks.now()
            runs[name]()
            times[name].append(Clocks.now().since(start))
    return times
