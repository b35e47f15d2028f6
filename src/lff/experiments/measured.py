"""What tables of training hold: the metrics of a run and their titles."""

RETURN = (("eval/return", "return"),)
Q_VALUES = (("train/q_max", "largest |Q|"), ("train/q_mean", "mean Q"), ("eval/q_bias", "Q bias"))
DRIFT = (("lff/actor_B_std", "std of B, actor"), ("lff/critic_B_std", "std of B, critics"))
HISTOGRAMS = (
    ("lff/actor_B_histogram", "B of actor, bin"),
    ("lff/critic_B_histogram", "B of critics, bin"),
)
FEATURES = (
    ("net/critic_effective_rank", "effective rank, critics"),
    ("net/critic_dormant", "dormant units, critics"),
)
