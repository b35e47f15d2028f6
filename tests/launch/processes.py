"""Who is whose child and who listens where, read from /proc."""

import ipaddress
from pathlib import Path

LISTEN = "0A"


def descendants(pid: int) -> list[int]:
    """A process and everything that it started, and those started."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def listening(pid: int) -> set[str]:
    """The addresses at which a process or one of its descendants listens."""
    sockets = set()
    for one in descendants(pid):
        try:
            for file in Path(f"/proc/{one}/fd").iterdir():
                sockets.add(str(file.readlink()))
        except OSError:
            continue
    hosts = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and f"socket:[{fields[9]}]" in sockets:
                hosts.add(_host(fields[1].partition(":")[0]))
    return hosts


def _host(text: str) -> str:
    words = [bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8)]
    address = ipaddress.ip_address(b"".join(words))
    return str(getattr(address, "ipv4_mapped", None) or address)
