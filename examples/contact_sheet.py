"""The contact sheet of a run from pixels: what the camera shows and what the agent is given.

    python examples/contact_sheet.py [--out runs/contact_sheet]

Needs the extra dmc.  ``lff train sac --env dmc-pixels/...`` writes the same into its run directory
after sixteen actions; here nothing is trained.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from lff.algos import Spaces
from lff.envs import make
from lff.training.contact_sheet import FILE, SHEET_AT, write_sheet
from lff.training.presets import preset


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the first observations of a task.")
    parser.add_argument("--out", type=Path, default=Path("runs/contact_sheet"), help="folder")
    parser.add_argument("--env", default="dmc-pixels/cheetah-run", help="the task")
    parser.add_argument("--preset", default="laptop", help="what lff train would take")
    arguments = parser.parse_args()
    config = preset(arguments.preset, arguments.env).config("lff")
    env = make(arguments.env, seed=1, action_repeat=config.action_repeat, view=config.view)
    spaces = Spaces.of(env)
    agent = config.algo.build(spaces, generator=torch.Generator().manual_seed(0))
    replay = config.algo.memory(spaces, SHEET_AT)
    obs, _ = env.reset()
    replay.begin(obs)
    actions = np.random.default_rng(0).uniform(-1, 1, (SHEET_AT, spaces.action))
    for action in actions.astype(np.float32):
        next_obs, reward, terminated, *_ = env.step(action)
        replay.add(obs, action, reward, next_obs, terminated=terminated)
        obs = next_obs
    env.close()
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / FILE).unlink(missing_ok=True)
    write_sheet(arguments.out, agent.preview(replay, torch.Generator().manual_seed(0)))
    print("figure:", arguments.out / FILE)


if __name__ == "__main__":
    main()
