"""Stress reports with numbers known in advance: made up, of the size of real ones."""

import numpy as np

from lff.stats.stress import Line, Measured, Stress, StressReport

REFERENCES = ("MLP", "MLP + layer norm", "LFF")
MADE = {
    "date": "2026-11-18",
    "lff": "0.1.0",
    "torch": "2.9.1",
    "python": "3.11.2",
    "processor": "x86-64, 2 cores",
    "command": "lff stress my_package.nets:make_critic",
}
# key, title, question, better, log, unit, this network and the references, spread, grade, advice
TABLE = (
    ("noise", "Share of target noise fitted",
     "How much of the noise in its targets has the critic learned by the time it has learned the "
     "signal?", "lower", False, "%", (46.0, 61.0, 38.0, 12.0), 4.0, "fair",
     "Put a Fourier layer with sigma 0.01 in front of the network, or lower the learning rate."),
    ("fqi", "Blow-up rate of fitted Q-iteration",
     "How often do the values diverge when the critic is fitted to its own bootstrapped targets?",
     "lower", False, "%", (40.0, 35.0, 0.0, 0.0), 9.0, "poor",
     "Normalise the hidden layers, or take fewer gradient steps per iteration."),
    ("q-max", "Largest |Q| over what rewards allow",
     "Without a target network, how far beyond the largest possible return do the values go?",
     "lower", True, "times", (850.0, 2400.0, 1.4, 1.1), 0.3, "poor",
     "Keep the target network, or normalise the hidden layers."),
    ("no-target", "Return without a target network",
     "Does the agent still learn when the critic's targets come from the critic itself?",
     "higher", False, "", (-1180.0, -1240.0, -210.0, -165.0), 60.0, "poor",
     "Keep the target network."),
    ("target-noise", "Return lost per unit of target noise",
     "How much return does each unit of noise in the targets cost?", "lower", False, "",
     (88.0, 120.0, 70.0, 41.0), 14.0, "fair", "Average over more critics."),
    ("frequencies", "Learning time of the highest over the lowest frequency",
     "How much longer does the network take for fast changes of the target than for slow ones?",
     "lower", True, "times", (320.0, 900.0, 400.0, 26.0), 0.2, "fair",
     "A Fourier layer shortens it; sigma sets by how much."),
    ("rank", "Effective rank kept after training",
     "How much of its features' variety does the network keep while it learns?",
     "higher", False, "%", (71.0, 44.0, 72.0, 69.0), 5.0, "good", ""),
    ("dormant", "Dormant units after training",
     "What share of the hidden units has stopped to respond to the input?",
     "lower", False, "%", (6.0, 31.0, 4.0, 5.5), 2.5, "good", ""),
    ("scale", "Change of Q when inputs are in other units",
     "How much do the values depend on the units of the observations (times 10, shifted)?",
     "lower", True, "times", (9.8, 9.4, 1.3, 7.7), 0.1, "poor",
     "Normalise the observations before they reach the network."),
    ("cost", "Cost of an update over the MLP's",
     "How long does one update take, beside an MLP of equal size?", "lower", False, "times",
     (1.31, 1.0, 1.22, 1.18), 0.03, "poor", ""),
)  # fmt: skip
DRAWN = {
    "noise": ("gradient steps", "share of the noise fitted, %", False, False),
    "fqi": ("gradient steps per iteration", "runs that diverged, %", True, False),
    "q-max": ("environment steps", "largest |Q| over the bound", False, True),
    "no-target": ("environment steps", "return", False, False),
    "target-noise": ("standard deviation of the noise", "return", False, False),
    "frequencies": ("frequency", "learning time, steps", True, True),
}


def measured(value, spread, *, log=False, seeds=5):
    """A number whose seeds lie evenly around it."""
    steps = np.linspace(-1, 1, seeds) * spread
    values = value * 10**steps if log else value + steps
    return Measured.of([float(one) for one in values])


def line(value, spread, x, *, log_y):
    """A curve that ends near the number."""
    share = np.linspace(0.1, 1, len(x))
    mean = value**share if log_y else value * share
    low, high = (mean * 0.8, mean * 1.25) if log_y else (mean - spread, mean + spread)
    return Line(*(tuple(map(float, part)) for part in (x, mean, low, high)))


def stress(key, *, name="my_package.nets:make_critic", factor=1.0, grade=None):
    """One stress of the table; ``factor`` scales the number of the network under test."""
    row = next(one for one in TABLE if one[0] == key)
    _, title, question, better, log, unit, numbers, spread, given, advice = row
    own, *theirs = numbers
    own *= factor
    lines = {}
    x_title, y_title, log_x, log_y = DRAWN.get(key, ("", "", False, False))
    if key in DRAWN:
        x = np.geomspace(1, 1000, 20) if log_x else np.linspace(0, 10_000, 21)
        names = (name, *REFERENCES)
        for one, value in zip(names, (own, *theirs), strict=True):
            lines[one] = line(value, spread, x, log_y=log_y)
    found = [measured(value, spread, log=log) for value in theirs]
    return Stress(
        key=key,
        title=title,
        question=question,
        better=better,
        log=log,
        unit=unit,
        measured=measured(own, spread, log=log),
        references=dict(zip(REFERENCES, found, strict=True)),
        grade=grade or given,
        advice=advice,
        lines=lines,
        x_title=x_title,
        y_title=y_title,
        log_x=log_x,
        log_y=log_y,
    )


def report(name="my_package.nets:make_critic", *, factor=1.0, keys=None, **changes):
    """A report of all stresses, or of some."""
    keys = [row[0] for row in TABLE] if keys is None else keys
    given = {
        "name": name,
        "lr": 3e-4,
        "is_quick": False,
        "seeds": 5,
        "parameters": 73_985,
        "made": MADE,
        "references_made": {**MADE, "date": "2026-11-17", "command": "lff stress --net mlp"},
        "stresses": tuple(stress(key, name=name, factor=factor) for key in keys),
        "summary": "Unstable without a target network: normalise the hidden layers or add a "
        "Fourier layer (sigma 0.01), and keep the target network.",
    }
    return StressReport(**(given | changes))
