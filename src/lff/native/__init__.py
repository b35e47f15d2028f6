"""Native SAC: the whole update, and acting, as C++ with sizes known at compile time.

    reason = supports(agent)            None, or what keeps this agent from it
    native = NativeSAC(agent)           built by g++ on first use, kept in the user's cache
    native.update(columns, index, noise)

The eager agent stays the reference: native code works on the agent's own tensors, so that
checkpoints, resume and every tool see the same agent.
"""

from lff.native.build import BuildError as BuildError
from lff.native.build import Origin as Origin
from lff.native.sac import NativeSAC as NativeSAC
from lff.native.sac import supports as supports
