"""How long a page takes when the database is small, and when it is large."""
import random, sqlite3

from larder import Larder, call
from latency import latencies
from processes import wait_for

PAGE = 50

# Ships that nothing has changed on since the revision before the present one, as after a quiet night.
SHIPS = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO ship SELECT printf('%024x', i), 'Ship ' || i, printf('ship %09d', i), 'Barge', '["Support"]', 1, 1990, 'Port', 1000, NULL, 1, 0, 1, 1, NULL FROM n;
UPDATE ship_revision SET last = last + 1, content = content + 1;
"""
# Copies of an answer that the mount has stored, under other addresses.
ANSWERS = """
CREATE TEMP TABLE model AS SELECT * FROM stored_response WHERE url LIKE '%/v4/ships?copy=0';
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO stored_response (upstream, url, method, credential, varying, status, reason, header, request_time, response_time, size, last_used)
SELECT upstream, replace(url, 'copy=0', 'copy=' || i), method, credential, varying, status, reason, header, request_time, response_time, 1000, i FROM model, n;
INSERT INTO stored_body SELECT id, zeroblob(200) FROM stored_response WHERE url LIKE '%?copy=_%' AND url NOT LIKE '%copy=0';
"""


def _is_hit(answer):
    return "hit" in answer.headers["Cache-Status"]


def pages(executable, folder, sandbox, mount, counts=(1_000, 100_000, 1_000_000)):
    settings = ["--rendered-budget-mb", "0", "--cache-budget-mb", "100000"]
    print(f"\n| rows | first page of {PAGE} ships, p50 / p99 ms | page in the middle, by cursor | by offset | one of as many stored answers | middle by cursor ÷ first |\n|---|---|---|---|---|---|")
    for rows in counts:
        data = f"{folder}/rows-{rows}"
        larder = Larder(executable, data, sandbox, *settings)
        own = larder.guest()
        wait_for(larder.base + "/v1/ships", own)
        wait_for(f"{larder.base}{mount}?copy=0")
        larder.stop()
        with sqlite3.connect(f"{data}/larder.sqlite") as database:
            database.executescript(SHIPS.format(rows=rows) + ANSWERS.format(rows=rows))
        database.close()
        larder = Larder(executable, data, sandbox, *settings)
        middle = call("GET", f"{larder.base}/v1/ships?limit={PAGE}&offset={rows // 2 - PAGE}", headers=own)["links"]["next"]
        cells = [
            latencies(larder, own, lambda: f"/v1/ships?limit={PAGE}", is_right=_is_hit),
            latencies(larder, own, lambda: middle, is_right=_is_hit),
            latencies(larder, own, lambda: f"/v1/ships?limit={PAGE}&offset={rows // 2}", is_right=_is_hit),
            latencies(larder, {}, lambda: f"{mount}?copy={random.randint(1, rows)}", is_right=_is_hit),
        ]
        first, cursor = (float(cell.split(" / ")[0]) for cell in cells[:2])
        print(f"| {rows} | {' | '.join(cells)} | {cursor / first:.2f} |", flush=True)
        larder.stop()
