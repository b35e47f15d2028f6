"""One node of a cluster that listens on 127.0.0.1, for as long as standard input is open.

    python -m tests.launch.ray_node FOLDER            the head; says its address
    python -m tests.launch.ray_node FOLDER ADDRESS    a node that joins it

``ray start`` will not let a second node join on 127.0.0.1; the class behind it does.
"""

import sys

from ray._private.node import Node
from ray._private.parameter import RayParams


def main() -> None:
    folder, *address = sys.argv[1:]
    options = {"gcs_address": address[0]} if address else {"temp_dir": folder}
    params = RayParams(
        node_ip_address="127.0.0.1",
        num_cpus=1,
        object_store_memory=80_000_000,
        include_dashboard=False,
        include_log_monitor=False,
        dashboard_agent_listen_port=None,
        node_manager_port=0,
        min_worker_port=0,
        max_worker_port=0,
        **options,
    )
    node = Node(params, head=not address, shutdown_at_exit=True, spawn_reaper=False)
    sys.stdout.write(f"{node.gcs_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    node.kill_all_processes(check_alive=False, allow_graceful=False)


if __name__ == "__main__":
    main()
