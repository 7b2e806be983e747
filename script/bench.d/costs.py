"""What a cold screen costs beside a made one, and a write beside a transaction of SQLite.

Cold: nothing is stored, and the upstream responds at once. Made: the same targets again, from their fresh copies."""
import http.client, json, sqlite3, statistics, time

from larder import Larder, call
from processes import wait_for

COLD = 200
WRITES = 200
ROWS = 20


def _requests(server, method, target, body, headers, count, status):
    """Milliseconds of each of `count` requests on one connection. `target` and `body` take the number of a request."""
    connection = http.client.HTTPConnection(server.base.removeprefix("http://"))
    times = []
    for number in range(count):
        data = json.dumps(body(number)).encode() if body else None
        begin = time.perf_counter()
        connection.request(method, target(number), data, headers | ({"Content-Type": "application/json"} if data else {}))
        answer = connection.getresponse()
        content = answer.read()
        times.append((time.perf_counter() - begin) * 1000)
        assert answer.status == status, (target(number), answer.status, content[:300])
    return times


def cold(options, folder, sandbox):
    call("PUT", f"{sandbox.base}/_sandbox/catalogue/generated", {"count": COLD * ROWS, "seed": 1})
    for number in range(COLD * 2):
        path = f"disk:/cold-{number // 2:03d}/note {number % 2}.txt"
        call("PUT", f"{sandbox.base}/_sandbox/yandex_disk/files", {"path": path, "base64": "Y29sZA=="})
    larder = Larder(
        options.larder, f"{folder}/cold-made", sandbox, "--rendered-budget-mb", "0", "--freshness-shop-s", "3600",
        "--freshness-disk-s", "3600", "--upstreams-yandex-disk-url", f"{sandbox.base}/yandex_disk",
        "--upstreams-yandex-oauth-url", f"{sandbox.base}/yandex_oauth")
    disk = call("POST", f"{larder.base}/v1/disk/session", {"mode": "oauth_token", "access_token": "sandbox-token"})["data"]["token"]
    screens = (
        (f"search of {ROWS} products", lambda number: f"/v1/shop/search?limit={ROWS}&offset={number * ROWS}", {"Larder-Profile": "bench"}),
        ("folder of 2 files", lambda number: f"/v1/disk/files?path=disk:/cold-{number:03d}&limit=20", {"Authorization": f"Bearer {disk}"}),
    )
    print("\n| cold screen | processor ms: cold | made | ratio | p50 ms: cold | made | ratio |\n|---|---|---|---|---|---|---|")
    for name, target, own in screens:
        results = []
        for _ in ("cold", "made"):
            before = larder.thread_seconds()
            times = _requests(larder, "GET", target, None, own, COLD, 200)
            results += [(larder.thread_seconds() - before) * 1000 / COLD, statistics.median(times)]
        print(f"| {name} | {results[0]:.2f} | {results[2]:.2f} | {results[0] / results[2]:.2f} "
              f"| {results[1]:.2f} | {results[3]:.2f} | {results[1] / results[3]:.2f} |", flush=True)
    larder.stop()


def _transactions(folder, count):
    """Milliseconds of transactions that insert a row with an index, with Larder's settings of durability, on the same disk."""
    path = f"{folder}/transactions-{time.monotonic_ns()}.sqlite"
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                           "CREATE TABLE row (id TEXT PRIMARY KEY, changed INTEGER, text TEXT) WITHOUT ROWID; CREATE INDEX changes ON row (changed)")
    times = []
    for number in range(count):
        begin = time.perf_counter()
        database.execute("INSERT INTO row VALUES (?, ?, ?)", (f"{number * 7919 % count:016x}", number, "A dog outside " * 4))
        times.append((time.perf_counter() - begin) * 1000)
    database.close()
    return times


def writes(options, folder, sandbox):
    larder = Larder(options.larder, f"{folder}/writes", sandbox)
    note = call("POST", f"{larder.base}/v1/notes/session", {"mode": "register", "username": "anna", "password": "bench"})["data"]["token"]
    guest, profile = larder.guest(), {"Larder-Profile": "bench"}
    ships = [ship["id"] for ship in json.loads(wait_for(f"{larder.base}/v1/ships?limit=100", guest)[0])["data"]["items"]]
    product = json.loads(wait_for(f"{larder.base}/v1/shop/search?limit=10")[0])["data"]["items"][0]["id"]
    line = call("POST", f"{larder.base}/v1/shop/list/items", {"product_id": product, "quantity": 1}, profile)["data"]["item"]["id"]
    works = (
        ("Notes: create a note", "POST", lambda number: "/v1/notes", lambda number: {"body": "A dog outside " * 4}, {"Authorization": f"Bearer {note}"}, 201, WRITES),
        ("Ships: delete a ship", "DELETE", lambda number: f"/v1/ships/{ships[number]}", None, guest, 200, len(ships)),
        ("Shop: change a quantity", "PATCH", lambda number: f"/v1/shop/list/items/{line}", lambda number: {"quantity": number % 9 + 1}, profile, 200, WRITES),
        ("PDF: mark the welcome as seen", "PUT", lambda number: "/v1/pdf/welcome", lambda number: {"seen": number % 2 == 0}, profile, 200, WRITES),
        ("Disk: mark the onboarding as seen", "PUT", lambda number: "/v1/disk/onboarding", lambda number: {"seen": number % 2 == 0}, profile, 200, WRITES),
    )
    print("\n| write | p50 ms | a transaction | ratio |\n|---|---|---|---|")
    for name, method, target, body, own, status, count in works:
        base = statistics.median(_transactions(folder, count))
        own_times = _requests(larder, method, target, body, own, count, status)
        base = (base + statistics.median(_transactions(folder, count))) / 2  # Before and after: disks change their pace.
        print(f"| {name} | {statistics.median(own_times):.2f} | {base:.2f} | {statistics.median(own_times) / base:.2f} |", flush=True)
    larder.stop()
