"""Figure 1 (right): does σ set how fine a detail the network fits?

Sixteen noisy points of a slow wave on [-1, 1], fitted by networks that differ in σ alone; twenty
draws of the noise.  The experiment is ``lff experiment run fig1``; this runs it, then draws it.
"""

from figure import run_and_draw

run_and_draw("fig1", __doc__)
