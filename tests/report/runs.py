"""Run directories as files alone: a page needs nothing that made them."""

import json
import math


def make_run(
    path, *, seed=0, env="dmc/cheetah-run", sigma=0.01, front="fourier", command=None, steps=6000
):
    """Write what a page reads of a run, with numbers known in advance; return the folder."""
    (path / "evaluations").mkdir(parents=True)
    front = {"type": front, "sigma": sigma, "fourier_dim": 16}
    config = {
        "env": env,
        "seed": seed,
        "steps": steps,
        "algo": {"gamma": 0.99, "critic": {"front": front, "trunk": {"hidden": [16, 16]}}},
    }
    (path / "config.json").write_text(json.dumps(config))
    words = command or ["/somewhere/lff/__main__.py", "train", "sac", "--env", env]
    versions = {"lff": "0.1.0", "torch": "2.13.0"}
    info = {"layout": 2, "command": words, "seed": seed, "versions": versions}
    (path / "run.json").write_text(json.dumps(info))
    rows = []
    for i, step in enumerate(range(500, steps + 1, 500)):
        share = step / steps
        rows.append({"env_step": step, **_trained(share, i)})
        if step % 1000 == 0:
            value = 100 * share + seed
            rows.append({"env_step": step, "eval/return": value, "eval/return_std": 5.0,
                         "eval/q_minus_return": 3 * share})  # fmt: skip
            returns = [value - 5, value + 5]
            stored = {"env_step": step, "returns": returns}
            (path / f"evaluations/{step:09d}.json").write_text(json.dumps(stored))
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reference = {"random": [10.0, 14.0], "zero": [0.0, 0.5]}
    (path / "evaluations/reference.json").write_text(json.dumps(reference))
    return path


def _trained(share, i):
    bell = [round(100 * math.exp(-(((k - 9.5) / (3 + share)) ** 2))) for k in range(20)]
    found = {
        "train/q_max": 2 + 40 * share,
        "train/q_mean": 20 * share,
        "train/critic_loss": 1 / (i + 1),
    }
    for role in ("actor", "critic"):
        found |= {
            f"lff/{role}_B_std": 0.01 + 0.03 * share,
            f"lff/{role}_B_histogram": bell,
            f"lff/{role}_phase_q05": 0.02,
            f"lff/{role}_phase_q50": 0.2 + share,
            f"lff/{role}_phase_q95": 0.9 + share,
            f"lff/{role}_wave_share": share,
            f"net/{role}_effective_rank": 12.0,
            f"net/{role}_dormant": 0.1,
        }
    return found
