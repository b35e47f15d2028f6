"""The contact sheet that every run from pixels leaves: what the camera shows, what the agent sees.

    python examples/contact_sheet.py [--out runs/contact_sheet]

Needs the extra dmc.  ``lff train sac --env dmc-pixels/...`` writes the same into its run directory
after sixteen actions; here nothing is trained.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from lff.algos import SAC
from lff.data import FrameReplay
from lff.envs import make
from lff.training.contact_sheet import FILE, SHEET_AT, keep_sheet
from lff.training.pixel_presets import pixel_preset


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the first observations of a task.")
    parser.add_argument("--out", type=Path, default=Path("runs/contact_sheet"), help="folder")
    parser.add_argument("--env", default="dmc-pixels/cheetah-run", help="the task")
    parser.add_argument("--preset", default="laptop", help="what lff train would take")
    arguments = parser.parse_args()
    chosen = pixel_preset(arguments.preset, arguments.env)
    repeat = chosen.action_repeat
    env = make(arguments.env, seed=1, action_repeat=repeat, view=chosen.view)
    size = int(np.prod(env.action_space.shape))
    weights = torch.Generator().manual_seed(0)
    agent = SAC(chosen.agent("lff"), env.observation_space.shape, size, generator=weights)
    replay = FrameReplay(SHEET_AT, obs_shape=chosen.view.shape, action_dim=size)
    obs, _ = env.reset()
    replay.begin(obs)
    for action in np.random.default_rng(0).uniform(-1, 1, (SHEET_AT, size)).astype(np.float32):
        next_obs, reward, terminated, *_ = env.step(action)
        replay.add(obs, action, reward, next_obs, terminated=terminated)
        obs = next_obs
    env.close()
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / FILE).unlink(missing_ok=True)
    keep_sheet(arguments.out, agent, replay, seed=0)
    print("figure:", arguments.out / FILE)


if __name__ == "__main__":
    main()
