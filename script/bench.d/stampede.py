"""Many clients at once on one cold resource: how often is the upstream asked?"""
import asyncio, time


async def _client(base, path, headers, go, ready):
    host, port = base.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    ready.release()
    await go.wait()
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n".encode())
    answer = await reader.read(-1)
    writer.close()
    return answer.split(b" ", 2)[1]


async def _clients(base, path, headers, count, released):
    go, ready = asyncio.Event(), asyncio.Semaphore(0)
    tasks = [asyncio.create_task(_client(base, path, headers, go, ready)) for _ in range(count)]
    for _ in range(count):
        await ready.acquire()
    begin = time.monotonic()
    go.set()
    await asyncio.sleep(1)  # The upstream is held meanwhile: all of them have asked when it answers.
    await asyncio.to_thread(released)
    answers = await asyncio.gather(*tasks)
    return answers, time.monotonic() - begin - 1


def stampede(larder, sandbox, path, upstream_path, headers, count=1000):
    """Prints results of `count` clients that request the same resource, which is not cached."""
    sandbox.forget()
    sandbox.fault("hold")

    def released():
        sandbox.fault("online")
        sandbox.release()

    answers, seconds = asyncio.run(_clients(larder.base, path, headers, count, released))
    print(f"{path}: {count} clients, {answers.count(b'200')} answers of 200, {sandbox.requests(upstream_path)} requests upstream,"
          f" all answered {seconds * 1000:.0f} ms after the upstream was")
