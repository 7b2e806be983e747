"""How long requests take that one client makes, one after another on one connection."""
import http.client, statistics, time


def latencies(server, headers, path, count=None, seconds=3, is_right=lambda answer: True):
    """Median and 99th percentile in milliseconds, of `count` requests or as many as there is time for. `path` gives the target of each."""
    connection = http.client.HTTPConnection(server.base.removeprefix("http://"))
    times, end = [], time.monotonic() + seconds
    while len(times) < count if count else time.monotonic() < end or len(times) < 20:
        target = path()
        begin = time.perf_counter()
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        answer.read()
        times.append((time.perf_counter() - begin) * 1000)
        assert answer.status == 200 and is_right(answer), (target, answer.status, str(answer.headers))
    return f"{statistics.median(times):.2f} / {statistics.quantiles(times, n=100)[98]:.2f}"
