"""Audits on a real cluster of Ray, whose workers, nodes and drivers are killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made import chain, write
from object_store import bucket
from pyarrow import fs
from randomx_web import _native, _ray, audit
from randomx_web._storage import Place
from ray_cluster import PATIENCE, Cluster, is_running, kill, stopped_in_epoch, wait_for

EPOCHS = 7

#: The program that the results are compared with.
RANDOMX_AUDIT = os.environ["RANDOMX_AUDIT"]

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(nodes=2)
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain in a file, each of whose epochs is in two of its groups of rows."""
    path = tmp_path_factory.mktemp("made") / "chain.parquet"
    write(path, chain(EPOCHS, 60), 37)
    return path


@pytest.fixture(scope="module")
def expected(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The result of `randomx audit`."""
    output = tmp_path_factory.mktemp("expected")
    arguments = ["audit", "--parquet", str(made), "--output", str(output), "--memory", "700M"]
    assert subprocess.run([RANDOMX_AUDIT, *arguments], timeout=PATIENCE).returncode == 1
    found = results(output)
    assert len(found) == EPOCHS + 3
    return found


def results(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def same(found: Files, expected: Files) -> bool:
    """Compares files. A message with their bytes would be too long."""
    assert sorted(found) == sorted(expected)
    return not [name for name in expected if found[name] != expected[name]]


def finished(folder: Path) -> dict[str, tuple[int, int]]:
    """The epochs that are done, with what changes when one is written again."""
    found = ((path.name, path.stat()) for path in folder.glob("epoch-*"))
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found}


def command(address: str, source: str | Path, output: str | Path) -> list[str]:
    arguments = ["--ray", address, "--input", str(source), "--output", str(output)]
    return [sys.executable, "-m", "randomx_web", "audit", *arguments]


def start(cluster: Cluster, source: str | Path, output: str | Path) -> subprocess.Popen[str]:
    arguments = command(cluster.address, source, output)
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def check(run: subprocess.Popen[str], output: Path, expected: Files) -> None:
    """Checks a run that no fault may change."""
    text, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == audit.NOT_VALID
    assert text.startswith(f"epochs        {EPOCHS}\n")
    assert same(results(output), expected)


def test_a_worker_that_is_killed_in_an_epoch(
    cluster: Cluster, made: Path, expected: Files, tmp_path: Path
) -> None:
    """What the system does to a worker when memory runs out: SIGKILL."""
    run = start(cluster, made, tmp_path)
    worker = stopped_in_epoch(tmp_path)
    before = finished(tmp_path)
    kill(worker)
    wait_for("end of the worker", lambda: not is_running(worker))
    assert len(finished(tmp_path)) < EPOCHS and run.poll() is None
    check(run, tmp_path, expected)
    assert before.items() <= finished(tmp_path).items()


def test_a_failure_of_ray_is_no_verdict(cluster: Cluster, made: Path, tmp_path: Path) -> None:
    arguments = [*command(cluster.address, made, tmp_path), "--retries", "0"]
    run = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kill(stopped_in_epoch(tmp_path))
    text, errors = run.communicate(timeout=PATIENCE)
    assert (run.returncode, text) == (audit.UNUSABLE, ""), errors
    assert errors.splitlines()[-1].startswith("error: Ray: WorkerCrashedError: "), errors


def test_a_node_that_is_killed_in_an_epoch(
    cluster: Cluster, made: Path, expected: Files, tmp_path: Path
) -> None:
    cluster.add()
    run = start(cluster, made, tmp_path)
    worker = stopped_in_epoch(tmp_path, finished=1)
    before = finished(tmp_path)
    cluster.kill_node(worker)
    assert len(finished(tmp_path)) < EPOCHS and run.poll() is None
    check(run, tmp_path, expected)
    assert before and before.items() <= finished(tmp_path).items()


def test_a_driver_that_is_killed_and_started_again(
    cluster: Cluster, made: Path, expected: Files, tmp_path: Path
) -> None:
    run = start(cluster, made, tmp_path)
    worker = stopped_in_epoch(tmp_path, finished=2)
    before = finished(tmp_path)
    kill(run.pid)
    assert run.wait(timeout=PATIENCE) == -9
    assert not (tmp_path / "summary.json").exists()
    wait_for("end of the worker, whose job has ended", lambda: not is_running(worker))
    check(start(cluster, made, tmp_path), tmp_path, expected)
    after = finished(tmp_path)
    assert before and before.items() <= after.items()
    # The program takes the folder for its own, and has nothing to do.
    arguments = ["audit", "--parquet", str(made), "--output", str(tmp_path)]
    assert subprocess.run([RANDOMX_AUDIT, *arguments], timeout=PATIENCE).returncode == 1
    assert finished(tmp_path) == after and same(results(tmp_path), expected)


def test_a_task_that_fits_no_machine(cluster: Cluster, made: Path, tmp_path: Path) -> None:
    arguments = [*command(cluster.address, made, tmp_path), "--threads", "2"]
    problem = (
        "--threads: expected at most 1, the processors of the cluster's largest machine, got 2"
    )
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr
        said = next(line for line in run.stderr if line.startswith("waiting"))
        assert said == f"waiting for a machine that fits a task: {problem}\n"
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="^threads: expected at most 1, "):
        with _ray.connected(cluster.address):
            _ray.run(
                [],
                reads=Place.named("input", str(made)),
                writes=Place.named("output", str(tmp_path)),
                threads=2,
                rows_memory=1,
                retries=0,
                waiting=None,
                report=print,
            )
    assert not list(tmp_path.glob("epoch-*"))

    def machine(processors: float, mib: int, alive: bool = True) -> dict[str, Any]:
        resources = {"CPU": processors, "memory": float(mib << 20)}
        return {"Alive": alive, "Resources": resources if processors else {}}

    nodes = [machine(0, 0), machine(2, 4096), machine(4, 1024), machine(64, 4096, alive=False)]
    for threads, mib in [(1, 4096), (2, 4096), (4, 1024)]:
        assert _ray.unfit(nodes, threads, mib << 20) is None
    assert str(_ray.unfit(nodes, 5, 1)).startswith("threads: expected at most 4, ")
    text = "memory: expected a machine with 4 processors and 1025 MiB for a task, got 1024 MiB "
    assert str(_ray.unfit(nodes, 4, (1024 << 20) + 1)).startswith(text)
    assert str(_ray.unfit([], 1, 1)).startswith("threads: expected at most 0, ")


def test_two_audits_in_one_process(cluster: Cluster, tmp_path: Path) -> None:
    """Each connects the process to the cluster, and disconnects it."""
    source = tmp_path / "chain.parquet"
    write(source, chain(1, 2, difficulty=1), 9)
    code = (
        "import sys; from randomx_web.audit import audit\n"
        "for name in 'ab':\n"
        "    print(audit(sys.argv[1], sys.argv[2] + name, ray=sys.argv[3]).invalid)"
    )
    arguments = [sys.executable, "-c", code, str(source), f"{tmp_path}/audit-", cluster.address]
    run = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    # Ray may print lines of its own.
    assert [line for line in run.stdout.splitlines() if line.isdigit()] == ["0", "0"]
    assert (tmp_path / "audit-b/summary.json").exists()


def test_an_object_store(made: Path, expected: Files) -> None:
    """The tasks run here, one after another."""
    with bucket() as address:
        store, _ = fs.FileSystem.from_uri(address("chain"))
        with store.open_output_stream("bucket/chain/a.parquet") as file:
            file.write(made.read_bytes())
        source, output = (
            Place.named(argument, address(name))
            for argument, name in (("input", "chain"), ("output", "audit"))
        )
        (reads, folder), (writes, target) = source.split(), output.split()
        plan = _native.Audit(folder, target, reads=reads, writes=writes)
        for name, job in plan.left():
            row = {"epoch": [name], "job": [job]}
            for done in (True, False):
                found = _ray.work(row, reads=source, writes=output, threads=1)
                assert found == {"epoch": [name], "done": [done]}
        # Nothing is left to do: this needs no cluster.
        places = ["--input", source.address, "--output", output.address]
        assert audit.main(["--ray", "none", *places]) == audit.NOT_VALID
        entries = store.get_file_info(fs.FileSelector("bucket/audit"))
        files = {entry.base_name: store.open_input_file(entry.path).readall() for entry in entries}
        # An object store has no locks.
        assert same(files, {name: expected[name] for name in expected if name != "lock"})


def test_missing_memory_is_an_error_that_is_tried_again(made: Path, tmp_path: Path) -> None:
    plan = _native.Audit(str(made), str(tmp_path))
    jobs = plan.left()
    assert plan.epochs == len(jobs) == EPOCHS
    assert plan.memory == 64 << 20
    job = tmp_path / "job"
    job.write_bytes(jobs[0][1])
    code = (
        "import resource, sys; from randomx_web import _native\n"
        "resource.setrlimit(resource.RLIMIT_AS, (250 << 20, 250 << 20))\n"
        "try: _native.audit_epoch(open(sys.argv[1], 'rb').read())\n"
        "except MemoryError as problem: print(problem)"
    )
    run = subprocess.run([sys.executable, "-c", code, job], capture_output=True, text=True)
    assert "epoch-0000000000: " in run.stdout, run.stderr
    assert not list(tmp_path.glob("epoch-*"))
    assert _native.audit_epoch(jobs[0][1]) is True
    assert _native.audit_epoch(jobs[0][1]) is False
    assert [name for name, _ in plan.left()] == [name for name, _ in jobs[1:]]
    with pytest.raises(OSError, match="removed while"):
        plan.finish()


def test_unusable_arguments(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "audit"

    def refused(source: str | Path, more: list[str], target: str | Path = output) -> str:
        places = ["--input", str(source), "--output", str(target)]
        try:
            code = audit.main(["--ray", "local", *places, *more])
        except SystemExit as exit:
            code = int(exit.code or 0)
        assert code == audit.UNUSABLE
        return capsys.readouterr().err

    absent = tmp_path / "absent"
    assert f"cannot read {absent}: " in refused(absent, [])
    expected = "expected a path, or an address of s3"
    assert refused("ftp://x/y", []).startswith(f"error: --input: {expected}")
    assert refused(made, [], "ftp://x/y").startswith(f"error: --output: {expected}")
    # pyarrow's own errors do not name the address.
    unknown = "s3://bucket/folder?unknown=1"
    assert refused(unknown, []).startswith("error: --input: ")
    assert refused(made, [], unknown).startswith("error: --output: ")
    assert "expected 1 to 1024, got '0'" in refused(made, ["--threads", "0"])
    assert not output.exists()
    _native.Audit(str(made), str(output))
    other = tmp_path / "other.parquet"
    write(other, chain(1, 2), 9)
    assert "expected a new folder, or that of audit of Parquet" in refused(other, [])


def test_a_result_that_cannot_be_printed(tmp_path: Path) -> None:
    source, output = tmp_path / "valid.parquet", tmp_path / "audit"
    write(source, chain(1, 2, difficulty=1), 9)
    for _, job in _native.Audit(str(source), str(output)).left():
        _native.audit_epoch(job)
    reader, closed = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)

    def run(stdout: int, stderr: int) -> subprocess.CompletedProcess[str]:
        arguments = command("local", source, output)
        return subprocess.run(arguments, stdout=stdout, stderr=stderr, text=True)

    # The reader of a closed pipe had enough; the verdict remains.
    unread = run(closed, subprocess.PIPE)
    assert (unread.returncode, unread.stderr) == (audit.VALID, "")
    lost = run(full, subprocess.PIPE)
    assert lost.returncode == audit.UNUSABLE
    assert lost.stderr.startswith("error: cannot write the result: ")
    assert len(lost.stderr.splitlines()) == 1
    assert run(full, closed).returncode == audit.UNUSABLE
    os.close(closed)
    os.close(full)


def test_the_folder_must_be_shared(made: Path, tmp_path: Path) -> None:
    plan = _native.Audit(str(made), str(tmp_path))
    _, job = plan.left()[0]
    with pytest.raises(ValueError, match="another process uses this folder"):
        _native.Audit(str(made), str(tmp_path))
    (tmp_path / "run.json").unlink()
    with pytest.raises(ValueError, match="a folder that every machine of the run has"):
        _native.audit_epoch(job)


def test_a_cluster_whose_head_is_killed(cluster: Cluster, made: Path, tmp_path: Path) -> None:
    """The last test: nothing else can use the cluster afterwards. Ray's code in C++ ends the driver."""
    run = subprocess.Popen(
        command(cluster.address, made, tmp_path),
        # By default Ray waits for a minute.
        env=os.environ | {"RAY_gcs_rpc_server_reconnect_timeout_s": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stopped_in_epoch(tmp_path)
    cluster.kill_head()
    text, errors = run.communicate(timeout=PATIENCE)
    assert (run.returncode, text) == (audit.UNUSABLE, ""), errors
    assert "error: the audit's process ended with exit code 1; Ray ends it if " in errors
    assert not (tmp_path / "summary.json").exists()
