"""The machine and its processes: what it is, how long a flush takes, how much memory a process had at its peak."""
import os
import pathlib
import platform
import re
import statistics
import time

SETTINGS = ("shared_buffers", "work_mem", "hash_mem_multiplier", "fsync", "synchronous_commit", "wal_sync_method",
            "full_page_writes", "max_worker_processes", "max_parallel_workers_per_gather", "jit", "max_connections")


def processor():
    names = re.findall(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else platform.processor() or platform.machine()


def environment(connection):
    """What a number means depends on it: (name, value)."""
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    yield "commit", os.environ.get("BENCH_COMMIT", "unknown")
    yield "time", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    yield "processor", processor()
    yield "cores", str(len(os.sched_getaffinity(0)))
    yield "load before", f"{os.getloadavg()[0]:.1f}"
    yield "memory", f"{int(memory[1]) // 1024} MB" if memory else "unknown"
    yield "system", platform.release()
    yield "server", connection.must("SELECT version()")[0][0]
    for name in SETTINGS:
        rows = connection.must(f"SELECT current_setting('{name}', true)")
        yield name, rows[0][0]


def flush_times(directory, times=300):
    """Milliseconds of writing and flushing 8 kB: median and 99th percentile."""
    path = pathlib.Path(directory) / "bench_flush"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    took = []
    try:
        os.pwrite(handle, b"\0" * 16 * 8192, 0)
        os.fsync(handle)
        for i in range(times):
            begun = time.perf_counter()
            os.pwrite(handle, b"x" * 8192, i % 16 * 8192)
            os.fdatasync(handle)
            took.append((time.perf_counter() - begun) * 1000)
    finally:
        os.close(handle)
        path.unlink()
    return percentile(took, 50), percentile(took, 99)


def percentile(values, percent):
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


# ---- memory ---------------------------------------------------------------------------------------------------------


def forget_peak(pid):
    """From now on the peak is that of what follows. Allowed to the owner of a process."""
    try:
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        pass


def private_peak(pid):
    """Megabytes: the peak of resident memory without what is shared, buffers above all; None if it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    sizes = {name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB", status, re.MULTILINE)}
    return (sizes["VmHWM"] - sizes.get("RssShmem", 0) - sizes.get("RssFile", 0)) / 1024


def private_now(pid):
    """Megabytes that a process alone has now; None if it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else None


def keepers(connection):
    """The processes that read rows for analysts, where there are such: by pid."""
    return [int(pid) for pid, in connection.must(
        "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'dp_rdr keeper%' AND datname = current_database()")]
