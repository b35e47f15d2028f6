"""Figure 2: does LFF filter noise from a Q-function that an MLP of equal size overfits?

A ridge over 64 states x 64 actions and the exact Q* of a maze, seen through white and correlated
noise.  The experiment is ``lff experiment run fig2``; this runs it, then draws it.
"""

from figure import run_and_draw

run_and_draw("fig2", __doc__)
