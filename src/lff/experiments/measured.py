"""Metrics of training runs that tables hold."""

from lff.stats.metrics import RETURN as RETURN
from lff.stats.metrics import Metric

EPISODE = Metric("train/episode_return", "training return")
Q_MAX = Metric("train/q_max", "largest |Q|", "lower", peak=True)
Q_ERROR = Metric("eval/q_minus_return", "Q minus return")
Q_VALUES = (Q_MAX, Metric("train/q_mean", "mean Q"), Q_ERROR)
ACTOR_STD = Metric("lff/actor_B_std", "std of B, actor")
CRITIC_STD = Metric("lff/critic_B_std", "std of B, critics")
DRIFT = (ACTOR_STD, CRITIC_STD)
HISTOGRAMS = (
    Metric("lff/actor_B_histogram", "B of actor, bin"),
    Metric("lff/critic_B_histogram", "B of critics, bin"),
)
SELF_EXCITATION = Metric("kernel/self_excitation", "self-excite eigenvalue", "lower")
DORMANT = Metric("net/critic_dormant", "dormant units, critics", "lower")
FEATURES = (Metric("net/critic_effective_rank", "effective rank, critics"), DORMANT)
