"""What a second event loop adds. On two cores the load generator needs some of the second one: so beside the rate stands what a request costs, and how often the
server's threads waited for something, such as a lock that another thread had."""
import re, os

from larder import Larder
from load import load, median
from processes import CLIENT_CORE, SERVER_CORE, wait_for

BOTH = f"{SERVER_CORE},{CLIENT_CORE}"


def _waits(server):
    """Voluntary context switches of all threads so far."""
    folder, count = f"/proc/{server.process.pid}/task", 0
    for thread in os.listdir(folder):
        try:
            with open(f"{folder}/{thread}/status") as file:
                count += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read()).group(1))
        except FileNotFoundError:
            pass  # It has ended meanwhile.
    return count


def _measure(options, larder, path, own, connections):
    load(larder, path, own, connections, 1, core=BOTH, threads=2)
    before, rounds = _waits(larder), [load(larder, path, own, connections, options.seconds, core=BOTH, threads=2) for _ in range(options.rounds)]
    requests = sum(round.rate * options.seconds for round in rounds)
    return median(rounds), (_waits(larder) - before) / requests


def loops(options, folder, sandbox, path="/v1/ships", connections=64):
    print("\n| case | event loops | CPU µs a request | requests a second | cores of server / wrk | waits a request | capacity ÷ one loop's | rate ÷ one loop's |\n|---|---|---|---|---|---|---|---|")
    for case, settings in (("hot screen", []), ("the same, made", ["--rendered-budget-mb", "0"])):
        one = None
        for count, cores in ((1, SERVER_CORE), (2, BOTH)):
            larder = Larder(options.larder, f"{folder}/loops-{case.replace(' ', '-')}-{count}", sandbox, *settings, core=cores)
            own = larder.guest()
            wait_for(larder.base + path, own)
            result, waits = _measure(options, larder, path, own, connections)
            larder.stop()
            # What the cores would do if the server had them to itself.
            capacity = count / result.cpu_us
            one = one or (capacity, result.rate)
            print(f"| {case} | {count} | {result.cpu_us:.1f} | {result.rate:.0f} | {result.rate * result.cpu_us / 1e6:.2f} / {result.busy:.2f} | {waits:.2f}"
                  f" | {capacity / one[0]:.2f} | {result.rate / one[1]:.2f} |", flush=True)
