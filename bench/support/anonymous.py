"""The largest anonymous memory of a program: pages of mapped files, which the system takes back as it likes, do not count."""
import re
import subprocess
import time


def run(command, before=None, pause=0.002):
    """Runs a command; gives the finished process, its seconds and the largest anonymous memory (bytes) seen."""
    start, most = time.perf_counter(), 0
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=before) as child:
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/status") as status:
                    found = re.search(r"RssAnon:\s*(\d+) kB", status.read())
            except OSError:
                found = None
            most = max(most, int(found[1]) * 1024 if found else 0)
            time.sleep(pause)
        said = child.stderr.read()
    return subprocess.CompletedProcess(child.args, child.returncode, "", said), time.perf_counter() - start, most
