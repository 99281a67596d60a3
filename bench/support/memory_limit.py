"""A limit on the memory of a program, page cache included, by a cgroup, where one can be made."""
import contextlib
import os
import pathlib


@contextlib.contextmanager
def limited(limit_bytes):
    """Gives a function that a child calls before it starts its program, or None where no cgroup is to be had."""
    for root, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = pathlib.Path(root) / f"ecotone-bench-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / file).write_text(str(limit_bytes))
        except OSError:
            group.rmdir()
            continue
        try:
            yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
        finally:
            group.rmdir()
        return
    yield None
