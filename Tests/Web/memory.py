"""How much memory the browser needs for something."""
import contextlib, re
from pathlib import Path

MIB = 1 << 20


@contextlib.contextmanager
def growth(browser):
    """Measures what the processes of the browser need at most in between, beyond what they had: the sum in bytes is
    `["bytes"]` afterwards. The kernel keeps the peak (`VmHWM`), so nothing depends on when one looks."""
    session = browser.new_browser_cdp_session()
    processes = [one["id"] for one in session.send("SystemInfo.getProcessInfo")["processInfo"]]
    session.detach()
    before = {}
    for process in processes:
        # 5 resets the peak to what is in use now: proc(5).
        Path(f"/proc/{process}/clear_refs").write_text("5")
        before[process] = peak(process)
    found = {}
    yield found
    found["bytes"] = sum(max(0, peak(process) - had) for process, had in before.items())


def peak(process):
    """The largest resident set of a process in bytes; 0 if it has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{process}/status").read_text()
        if found := re.search(r"^VmHWM:\s+(\d+) kB", status, re.M):
            return int(found[1]) * 1024
    return 0
