"""Environment steps per second of PPO's training loops, ours and the peers', in one run.

    python benchmarks/ppo_peers.py [--threads 1] [--rounds 8] [--seconds 6]

HalfCheetah-v5, one environment, actor and critic of two hidden layers of 64, tanh; 2048 steps a
rollout, 10 epochs of 32 updates; observations and rewards normalised by running statistics, as each
has it.  A slice is long enough for whole rollouts and their updates.  Compilation and the first
rollout are not counted.  "speed" is our rate over the peer's in the same round.  The last line is
one JSON object.
"""

import argparse
import json
import tempfile

from turns import Contender, median_and_quartiles, turns

GOALS = {"sb3": 1.5, "cleanrl": 1.3}
TASK = "HalfCheetah-v5"
ROLLOUT, BATCH, EPOCHS, WIDTH = 2048, 64, 10, 64


def by_rollouts():
    """Return what a loop calls after every step: slices begin and end where rollouts do."""
    tick = turns(ready_after=1)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1
        if steps % ROLLOUT == 0:
            tick()

    return step


def run_lff(*, threads: int, compiled: bool) -> None:
    """Train as ``lff train ppo`` does: checkpoints, metrics, finite checks and all."""
    from lff.algos import PPOConfig
    from lff.nn import MLPTrunk, NetConfig
    from lff.training import PPOTrainConfig, train

    net = NetConfig(trunk=MLPTrunk(hidden=(WIDTH, WIDTH), activation="tanh"))
    config = PPOTrainConfig(
        env=f"gym/{TASK}",
        algo=PPOConfig(
            actor=net, critic=net, rollout_steps=ROLLOUT, batch_size=BATCH, epochs=EPOCHS
        ),
        steps=10_000_000,
        compile=compiled,
        threads=threads,
        eval_every=10_000_000,  # the peers do not evaluate
    )
    tick = by_rollouts()
    with tempfile.TemporaryDirectory() as folder:
        train(config, directory=folder, watch=lambda _run, event: event == "step" and tick())


def run_sb3() -> None:
    """Train with Stable-Baselines3, whose defaults these are but for the normalisation."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    tick = by_rollouts()

    class Tick(BaseCallback):
        def _on_step(self) -> bool:
            tick()
            return True

    envs = VecNormalize(make_vec_env(TASK))
    sizes = {"net_arch": {"pi": [WIDTH, WIDTH], "vf": [WIDTH, WIDTH]}}
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=ROLLOUT,
        batch_size=BATCH,
        n_epochs=EPOCHS,
        policy_kwargs=sizes,
        device="cpu",
    )
    model.learn(10_000_000, callback=Tick())


def run_child(name: str, *, threads: int, compiled: bool) -> None:
    import torch

    torch.set_num_threads(threads)
    if name == "lff":
        run_lff(threads=threads, compiled=compiled)
    elif name == "sb3":
        run_sb3()
    else:
        from cleanrl_ppo import train

        train(by_rollouts(), task=TASK, rollout=ROLLOUT, batch=BATCH, epochs=EPOCHS, width=WIDTH)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=6.0, help="least length of a slice")
    parser.add_argument("--peers", nargs="+", choices=tuple(GOALS), default=list(GOALS))
    parser.add_argument("--eager", action="store_true", help="ours uncompiled")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.child:
        run_child(arguments.child, threads=arguments.threads, compiled=not arguments.eager)
        return
    flags = ["--threads", str(arguments.threads), *(["--eager"] if arguments.eager else [])]
    contenders = []
    for name in ("lff", *arguments.peers):
        contenders.append(
            Contender(name, [__file__, "--child", name, *flags], threads=arguments.threads)
        )
        print(f"  {name} is warm", flush=True)
    for number in range(arguments.rounds):
        shift = number % len(contenders)  # nobody always follows the same one
        for contender in contenders[shift:] + contenders[:shift]:
            contender.start(arguments.seconds)
            contender.finish()
    ours, *peers = contenders
    ratios, spread, rates = {}, {}, {}
    for contender in contenders:
        contender.stop()
        # a tick is a rollout
        rates[contender.name] = round(ROLLOUT * median_and_quartiles(contender.rates)[0], 1)
    for peer in peers:
        speeds = [a / b for a, b in zip(ours.rates, peer.rates, strict=True)]
        middle, spread[peer.name] = median_and_quartiles(speeds)
        ratios[peer.name] = round(middle, 3)
        print(f"  {peer.name:8s} {middle:5.2f}x  quartiles {spread[peer.name]}")
    met = {name: speed >= GOALS[name] for name, speed in ratios.items()}
    result = {"ratios": ratios, "spread": spread, "steps_per_second": rates, "met": met}
    print(json.dumps({**result, "threads": arguments.threads, "rounds": arguments.rounds}))


if __name__ == "__main__":
    main()
