"""What a hot screen costs behind deploy/haproxy/alike.cfg with as many clients' addresses as there are requests."""
import os, re, statistics, subprocess

from cluster import ROOT, Cluster, check, free_port, program, request, wait

SCREEN = "/v1/shop/categories"
# SCALE-13: at most so many times the cost without any address.
MOST = 1.3
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / TICKS


def round_of(port, pid, seconds=4):
    """Microseconds of the server's processor time for each request."""
    before = processor_seconds(pid)
    output = subprocess.run([program("wrk", "wrk", "/usr/bin"), "-t1", "-c16", f"-d{seconds}s", "-H", "Host: localhost",
                             f"http://127.0.0.1:{port}{SCREEN}"], capture_output=True, text=True).stdout
    if wrong := re.search(r"Non-2xx.*|Socket errors.*", output):
        check(wrong.group(0), False)
    return (processor_seconds(pid) - before) / int(re.search(r"(\d+) requests in", output).group(1)) * 1e6


def cost(options):
    with Cluster(options) as cluster:
        port = cluster.larder("n1", "--sandbox", "--log-level", "error")
        # The proxy names an address of its own for each request, instead of its client's.
        with open(os.path.join(ROOT, "deploy/haproxy/alike.cfg")) as file:
            text = file.read()
        check("the proxy names the address of its client", text.count("X-Forwarded-For %[src]") == 1)
        line = "    http-request set-header X-Forwarded-For %[src]\n"
        fronts = [proxy(cluster, port, name, text.replace(line, other)) for name, other in
                  [("none", ""), ("many", line.replace("%[src]", "10.%[rand(256)].%[rand(256)].%[rand(256)]"))]]
        pid = cluster.processes["n1"].pid
        rounds = [[round_of(target, pid) for target in (port, *fronts)] for _ in range(4)]
        # The first round meets a server that is not warm.
        direct, none, many = (statistics.median(each) for each in zip(*rounds[1:]))
        print(f"     µs of Larder a request: direct {direct:.1f}, behind the proxy {none:.1f}, with addresses {many:.1f}")
        print(f"     with addresses behind the proxy ÷ direct: {many / direct:.2f}")
        check(f"SCALE-13 with the addresses of a million clients ÷ without: {many / none:.2f}", many / none <= MOST)


def proxy(cluster, port, name, text):
    with open(cluster.path(f"{name}.cfg"), "w") as file:
        file.write(text)
    front = free_port()
    nodes = {f"LARDER_N{number}": f"127.0.0.1:{port}" for number in (1, 2, 3)}
    cluster.haproxy(cluster.path(f"{name}.cfg"), {**nodes, "LARDER_FRONT": f"127.0.0.1:{front}", "LARDER_BALANCE": "turns"}, name)
    wait("the proxy", lambda: request(front, "GET", SCREEN)[0] == 200)
    return front
