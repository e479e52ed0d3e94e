"""Epochs of an audit as tasks of Ray Data."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._native import audit_epoch
from ._storage import Place

MIB = 1 << 20

#: The memory of a task besides its threads' scratchpads and its rows: the cache of a key, and the
#: process with Python, Ray and pyarrow.
TASK_MEMORY = (256 + 240) * MIB

#: The scratchpads of a thread: 2 MiB for each of 8 lanes.
THREAD_MEMORY = 16 * MIB

#: Seconds before an attempt that found no memory, or a storage that failed, counts as failed.
PAUSE = 2.0


def memory(threads: int, rows: int) -> int:
    """Returns the bytes that a task declares, whose rows take some of them."""
    return TASK_MEMORY + rows + threads * THREAD_MEMORY


def work(batch: dict[str, Any], *, reads: Place, writes: Place, threads: int) -> dict[str, Any]:
    """Audits the epoch of a batch, which has one row."""
    (job,) = batch["job"]
    try:
        done = audit_epoch(
            bytes(job), threads=threads, reads=reads.split()[0], writes=writes.split()[0]
        )
    except (MemoryError, OSError):
        # Ray starts the next attempt at once, perhaps on the same machine.
        time.sleep(PAUSE)
        raise
    return {"epoch": batch["epoch"], "done": [done]}


def unfit(nodes: list[dict[str, Any]], threads: int, needed: int) -> str | None:
    """Returns why no machine of the cluster fits a task. `nodes` is what `ray.nodes()` returns."""
    machines = [node["Resources"] for node in nodes if node["Alive"]]
    processors = int(max((machine.get("CPU", 0) for machine in machines), default=0))
    if processors < threads:
        return (
            f"threads: expected at most {processors}, the processors of the cluster's largest "
            f"machine, got {threads}"
        )
    fitting = (machine for machine in machines if machine.get("CPU", 0) >= threads)
    most = max(machine.get("memory", 0) for machine in fitting)
    if most < needed:
        return (
            f"memory: expected a machine with {threads} processors and {-(-needed // MIB)} MiB for a "
            f"task, got {int(most) // MIB} MiB at most; use fewer threads, or give Ray more memory"
        )
    return None


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turns an error of Ray into that of the worker, or else into a RuntimeError of one line."""
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayError as failure:
        problem = failure.cause if isinstance(failure, RayTaskError) else failure
        if isinstance(problem, RayError):
            line = str(problem).partition("\n")[0]
            problem = RuntimeError(f"Ray: {type(problem).__name__}: {line}")
        # Without Ray's traces.
        raise problem from None


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connects this process to a cluster, and disconnects it at the end.

    Without an address, the process is connected already, and stays so.
    """
    import ray

    if address is None:
        yield
        return
    ray.init(address, log_to_driver=False, logging_level=logging.WARNING)
    try:
        yield
    finally:
        ray.shutdown()


def run(
    jobs: list[tuple[str, bytes]],
    *,
    reads: Place,
    writes: Place,
    threads: int,
    rows_memory: int,
    retries: int,
    waiting: Callable[[str], None] | None,
    report: Callable[[str], None],
) -> None:
    """Audits epochs on the cluster that this process is connected to.

    `report` receives the name of each epoch that is done. If no machine fits a task, `waiting`
    receives the reason, and the run waits for one. Without `waiting`, it raises RuntimeError.
    """
    import ray.data

    # Ray would wait without a word.
    if problem := unfit(ray.nodes(), threads, memory(threads, rows_memory)):
        if not waiting:
            raise RuntimeError(problem)
        waiting(problem)
    context = ray.data.DataContext.get_current().copy()
    context.enable_progress_bars = False
    context.raise_original_map_exception = True
    # A task returns a name. Ray sets room for its results aside before it starts.
    context.target_max_block_size = MIB

    def attempts() -> dict[str, Any]:
        failures = [MemoryError, OSError, ray.exceptions.RaySystemError]
        return {"max_retries": retries, "retry_exceptions": failures}

    # Ray declares no type that a function could have.
    task: Any = work
    # A row and a block for each epoch make a task for each epoch.
    rows = [{"epoch": name, "job": job} for name, job in jobs]
    with ray.data.DataContext.current(context):
        plan = ray.data.from_items(rows, override_num_blocks=len(rows))
        results = plan.map_batches(
            task,
            batch_size=1,
            batch_format="numpy",
            fn_kwargs={"reads": reads, "writes": writes, "threads": threads},
            num_cpus=threads,
            memory=memory(threads, rows_memory),
            ray_remote_args_fn=attempts,
        )
        for row in results.iter_rows():
            report(row["epoch"])
