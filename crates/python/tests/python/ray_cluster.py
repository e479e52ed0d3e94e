"""A cluster of Ray on this machine: several nodes as processes, which tests kill."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

#: Seconds that a test waits for something.
PATIENCE = 600.0

T = TypeVar("T")

os.environ |= {
    # Nothing leaves this machine, and drivers take 127.0.0.1 as it is.
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # A dead node is noticed within a second.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "4",
    # By default workers give way to all other work, and tests beside a busy build wait for half an hour.
    "RAY_worker_niceness": "0",
}


def wait_for(what: str, condition: Callable[[], T | None]) -> T:
    """Waits until a condition returns something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found is not None and found is not False:
            return found
        time.sleep(0.005)
    raise AssertionError(f"no {what} after {PATIENCE} s")


class Cluster:
    """A head, which runs no tasks, and nodes with a processor each."""

    def __init__(self, nodes: int) -> None:
        from ray.cluster_utils import Cluster as Nodes

        # Sockets in it have names of at most 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="rx")
        os.environ["RAY_TMPDIR"] = self.folder
        self._options: dict[str, Any] = {
            "node_ip_address": "127.0.0.1",
            "include_dashboard": False,
            "object_store_memory": 80 << 20,
            "memory": 2 << 30,
        }
        self._cluster: Any = Nodes(
            initialize_head=True, head_node_args=self._options | {"num_cpus": 0}
        )
        for _ in range(nodes):
            self.add()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self) -> None:
        """Starts a node."""
        self._cluster.add_node(num_cpus=1, **self._options)

    def alive(self) -> int:
        """Returns the number of nodes that the cluster knows as alive, with the head."""
        table = self._cluster.global_state.node_table()
        return sum(bool(node["Alive"]) for node in table)

    def kill_node(self, worker: int) -> None:
        """Kills the node of a worker: all of its processes, at once and with SIGKILL."""
        (node,) = (node for node in self._cluster.worker_nodes if raylet(node) in ancestors(worker))
        before = self.alive()
        own = [raylet(node), *descendants(raylet(node))]
        assert worker in own
        for process in own:
            kill(process)
        wait_for("end of the processes", lambda: not any(map(is_running, own)))
        node.kill_all_processes(check_alive=False, allow_graceful=False)
        self._cluster.worker_nodes.remove(node)
        wait_for("dead node", lambda: self.alive() == before - 1)

    def kill_head(self) -> None:
        """Kills the process with the state of the cluster, which can only be closed afterwards."""
        kill(self._cluster.head_node.all_processes["gcs_server"][0].process.pid)

    def close(self) -> None:
        """Ends all processes of the cluster."""
        nodes = self._cluster.list_all_nodes()
        raylets = [raylet(node) for node in nodes if "raylet" in node.all_processes]
        own = {process for one in raylets for process in (one, *descendants(one))}
        self._cluster.shutdown()
        end = time.monotonic() + 10
        while any(map(is_running, own)) and time.monotonic() < end:
            time.sleep(0.1)
        for process in filter(is_running, own):
            kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)


def raylet(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def is_running(process: int) -> bool:
    return status(process).get("State", "Z")[0] not in "ZX"


def is_stopped(process: int) -> bool:
    return status(process).get("State", "T")[0] == "T"


def status(process: int) -> dict[str, str]:
    """Returns the fields of /proc/PID/status, none if the process has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def ancestors(process: int) -> list[int]:
    found = []
    while process := int(status(process).get("PPid", 0)):
        found.append(process)
    return found


def descendants(process: int) -> list[int]:
    return [other for other in processes() if process in ancestors(other)]


def open_files(process: int) -> Iterator[str]:
    try:
        for number in os.listdir(f"/proc/{process}/fd"):
            yield os.readlink(f"/proc/{process}/fd/{number}")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass


def stopped_in_epoch(folder: Path, finished: int = 0) -> int:
    """Waits until this many epochs are done, stops a worker that is in the middle of another one, and
    returns it."""

    def find() -> int | None:
        unfinished = {str(path) for path in folder.glob(".unfinished-*.parquet")}
        if len(list(folder.glob("epoch-*"))) < finished or not unfinished:
            return None

        def is_in_epoch(process: int) -> bool:
            held = unfinished.intersection(open_files(process))
            return any(map(os.path.exists, held))

        for process in filter(is_in_epoch, processes()):
            os.kill(process, signal.SIGSTOP)
            wait_for("stop", partial(is_stopped, process))
            if is_in_epoch(process):
                return process
            os.kill(process, signal.SIGCONT)
        return None

    return wait_for("worker in the middle of an epoch", find)
