"""A launcher in a process of its own: jobs in as JSON, what became of them out as JSON.

python -m tests.launch.ray_driver ROOT ADDRESS|own
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from lff.core.errors import RunError
from lff.launch.job import job_from_dict
from lff.launch.ray import launch_on_ray
from tests.launch.processes import listening

KNOCK = "import sys, ray._raylet as r; r.GcsClient(address=sys.argv[1]).get_all_node_info()"


def knock() -> str:
    """Ask the cluster for its nodes without the token; return how that ended."""
    import ray

    address = ray.get_runtime_context().gcs_address
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    command = [sys.executable, "-c", KNOCK, address]
    asked = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return asked.stderr


def main() -> None:
    root, address = sys.argv[1:]
    jobs = [job_from_dict(data) for data in json.load(sys.stdin)]
    seen: dict[str, list[str]] = {"states": [], "hosts": [], "modes": [], "strangers": []}

    def show(tasks) -> None:
        seen["states"] += {task.state for task in tasks} - {*seen["states"]}
        seen["hosts"] += listening(os.getpid()) - {*seen["hosts"]}
        token = os.environ.get("RAY_AUTH_TOKEN_PATH")
        if token and not seen["modes"]:
            seen["modes"] = [oct(p.stat().st_mode)[-3:] for p in (Path(token), Path(token).parent)]

        if own and not seen["strangers"]:
            seen["strangers"] = [knock()]

    own = address == "own"
    try:
        tasks = launch_on_ray(
            jobs,
            Path(root),
            address=None if own else address,
            workers=2 if own else None,
            show=show,
        )
    except RunError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
    ends = {task.digest: [task.state, task.code] for task in tasks}
    left = [name for name in os.environ if name.startswith("RAY_AUTH")]
    sys.stdout.write(json.dumps({"ends": ends, "left": left, **seen}))


if __name__ == "__main__":
    main()
