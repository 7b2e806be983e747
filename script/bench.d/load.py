"""One round of wrk, and the table of many."""
import re, resource, statistics, subprocess, sys, time
from collections import namedtuple

import pictures
from processes import CLIENT_CORE

# `busy` is the share of its core that wrk itself used: near 1 it is wrk that is measured.
Round = namedtuple("Round", "cpu_us rate p50_ms p99_ms busy")
MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}


def _children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def load(server, path, headers, connections, seconds, core=CLIENT_CORE, threads=1):
    command = ["taskset", "-c", core, "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--latency", server.base + path]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    before, client_before, begin = server.cpu_seconds(), _children_seconds(), time.monotonic()
    output = subprocess.run(command, capture_output=True, text=True).stdout
    busy = (_children_seconds() - client_before) / (time.monotonic() - begin)
    used = server.cpu_seconds() - before
    wrong = re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", output)
    if wrong:
        sys.exit(f"{server.base}{path}: {wrong.group(0)}")
    requests = int(re.search(r"(\d+) requests in", output).group(1))
    if requests == 0:
        sys.exit(f"{server.base}{path}: no response to {connections} connections within {seconds} s")
    latency = {share: float(value) * MILLISECONDS[unit] for share, value, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", output)}
    return Round(used / requests * 1e6, requests / seconds, latency["50"], latency["99"], busy)


def median(rounds):
    return Round(*map(statistics.median, zip(*rounds)))


def measure(options, servers, title, headers, below=1_000_000):
    """Rows of one case. `servers` are triples of a server, the target that it is asked for, and the fields that only it needs.

    `below` leaves out numbers of connections: with 256 the floor hardly responds."""
    for connections in (number for number in options.connections if number < below):
        for server, path, own in servers:
            load(server, path, own | headers, connections, 1)  # The first of so many connections meet a server that is not warm.
        rounds = [[] for _ in servers]
        for _ in range(options.rounds):
            for (server, path, own), results in zip(servers, rounds):
                results.append(load(server, path, own | headers, connections, options.seconds))
        yield title, connections, [median(results) for results in rounds]


class Table:
    """Rows of Markdown. Cells hold what each server did, in the order of `names`; `rival` is the second of them."""

    def __init__(self, names, rival="nginx"):
        self.names, self.rows = names, []
        order = " / ".join(names)
        print(f"\n| {order} | connections | CPU µs a request | of {rival}'s | requests a second | p50 ms | p99 ms | wrk busy |\n|---|---|---|---|---|---|---|---|")

    def row(self, case, connections, results):
        self.rows.append((case, connections, results))

        def cells(text):
            return " / ".join(map(text, results))

        ratio = f"{results[0].cpu_us / results[1].cpu_us:.2f}" if len(results) > 1 else ""
        print(f"| {case} | {connections} | {cells(lambda r: f'{r.cpu_us:.1f}')} | {ratio} | {cells(lambda r: f'{r.rate:.0f}')}"
              f" | {cells(lambda r: f'{r.p50_ms:.2f}')} | {cells(lambda r: f'{r.p99_ms:.2f}')} | {cells(lambda r: f'{r.busy:.0%}')} |", flush=True)

    def draw(self, path, title):
        """A picture of the processor time, with the most connections that are below 100."""
        chosen = max((connections for _, connections, _ in self.rows if connections < 100), default=self.rows[0][1])
        rows = [(case, [result.cpu_us for result in results]) for case, connections, results in self.rows if connections == chosen]
        pictures.bars(path, f"{title}, {chosen} connections", "processor time in µs a request", self.names, rows)
