"""How the time of a list, a detail and a search depends on the number of rows: small databases beside large ones, made for it by SQL."""
import sqlite3, urllib.parse, urllib.request

import map_views
import pages
import pictures
from documents import pdf
from larder import Larder, call
from latency import latencies
from processes import wait_for

COUNT = 400
PROFILE = {"Larder-Profile": "bench"}
NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
# What indexes names is made by Larder at its next start, as for a database of an earlier build.
# Documents of one page each, all with the file of the one that was made before: lists and details do not open it.
DOCUMENTS = NUMBERS + """INSERT INTO pdf_document (id, profile, name, created, draft_until, blob_id, length, version, page_count)
    SELECT printf('%016x', i), 'bench', 'Document ' || i, 1700000000000 + i * 1000, NULL, (SELECT max(id) FROM blob), 1000, 1, 1 FROM n;
INSERT INTO pdf_page SELECT sequence, 1, id, 'text', 595, 842, 0, id FROM pdf_document WHERE profile = 'bench' AND name LIKE 'Document %';
DROP TABLE pdf_term;
ALTER TABLE pdf_document DROP COLUMN folded;
DELETE FROM grdb_migrations WHERE identifier = 'pdf/004 names';
"""
# A list takes 1,000 lines: further ones are on the lists of other profiles.
LINES = NUMBERS + """INSERT INTO shop_list_item (profile, product_id, ordinal, quantity, position, title, description, price, images)
    SELECT iif(i <= 1000, 'bench', 'bench-' || i / 1000), i, 1, 1 + i % 9, i, 'Product ' || i, 'Of use', 12 + i % 50 || '.50', '[]' FROM n;
"""
# Products that were seen earlier, beside those of the sandbox.
PRODUCTS = NUMBERS + """INSERT INTO shop_product
        (id, title, description, price, category_id, category_name, images, made_at, gone, fetched_at)
    SELECT 1000000 + i, printf('Thing %d, of use %d', i % 1000, i), 'Of use', 12 + i % 50 || '.50', NULL, NULL, '[]', NULL, 0, 1700000000000 FROM n;
INSERT INTO shop_search SELECT id, lower(title) || char(2, 2), category_id, CAST(price AS REAL) FROM shop_product WHERE id > 1000000;
INSERT INTO shop_text (rowid, folded) SELECT id, folded FROM shop_search WHERE id > 1000000;
"""
# Other files of the account than those of the folder that is shown. No list has them: they were seen later than the list of all files.
FILES = NUMBERS + """INSERT INTO disk_item (account, path, name, folded, kind, size, created, modified, media_type, mime_type, md5, published, seen_at)
    SELECT (SELECT account FROM disk_account), printf('disk:/archive/%03d/letter %07d.txt', i % 1000, i), printf('letter %07d.txt', i), printf('letter %07d.txt', i),
        'file', 1000, 1700000000000 + i, 1700000000000 + i, 'text', 'text/plain', printf('%032x', i), 0, 4102444800000 FROM n;
DROP TABLE disk_term;
DROP INDEX disk_item_by_rank;
DROP INDEX disk_item_by_search;
ALTER TABLE disk_item DROP COLUMN rank;
DELETE FROM grdb_migrations WHERE identifier IN ('disk/003 names', 'disk/007 search');
"""


def _links(larder, path, own):
    """The target of the next page."""
    return call("GET", larder.base + path, headers=own)["links"]["next"]


def _middle(larder, path, own, rows):
    return _links(larder, f"{path}?limit=50&offset={rows // 2}", own)


def _text(text):
    return "/v1/notes?limit=50&q=" + urllib.parse.quote(text)


def _no_setup(larder, sandbox):
    return PROFILE


def _documents(larder, sandbox):
    text = "--part\r\nContent-Disposition: form-data; name=\"files\"; filename=\"one.pdf\"\r\n\r\n" + pdf("one", 1) + "\r\n--part--\r\n"
    fields = PROFILE | {"Content-Type": "multipart/form-data; boundary=part"}
    with urllib.request.urlopen(urllib.request.Request(f"{larder.base}/v1/pdf/documents", text.encode(), fields)) as answer:
        answer.read()
    return PROFILE


def _ships(larder, sandbox):
    own = larder.guest()
    wait_for(larder.base + "/v1/ships", own)
    return own


def _notes(larder, sandbox):
    token = call("POST", f"{larder.base}/v1/notes/session", {"mode": "register", "username": "anna", "password": "bench"})["data"]["token"]
    return {"Authorization": f"Bearer {token}"}


def _shop(larder, sandbox):
    """The catalogue goes away: what is known of it is searched here then."""
    sandbox.fault("online", "catalogue")
    wait_for(f"{larder.base}/v1/shop/search?limit=10")
    sandbox.fault("offline", "catalogue")
    return PROFILE


def _disk(larder, sandbox):
    for number in range(20):
        call("PUT", f"{sandbox.base}/_sandbox/yandex_disk/files", {"path": f"disk:/made/note {number}.txt", "base64": "bWFkZQ=="})
    token = call("POST", f"{larder.base}/v1/disk/session", {"mode": "oauth_token", "access_token": "sandbox-token"})["data"]["token"]
    own = {"Authorization": f"Bearer {token}"}
    for path in ("/v1/disk/files?path=disk:/made&limit=20", "/v1/disk/file?path=disk:/made/note%201.txt", "/v1/disk/search?q=note"):
        wait_for(larder.base + path, own)
    return own


def _script(text):
    return lambda database, rows: database.executescript(text.format(rows=rows))


# For each app what is done before, what fills its tables, and its screens: a target, or what returns it.
APPS = {
    "ships": (_ships, _script(pages.SHIPS), {
        "list": "/v1/ships?limit=50", "middle of the list": lambda larder, own, rows: _middle(larder, "/v1/ships", own, rows),
        "details": lambda larder, own, rows: f"/v1/ships/{rows // 2:024x}", "changes since the first revision": "/v1/ships?limit=50&since_revision=1",
        "search": "/v1/ships?limit=50&q=ship%20423", "search of a word of all": "/v1/ships?limit=50&q=ship",
    }),
    "notes": (_notes, map_views.fill, {
        "list": "/v1/notes?limit=50", "middle of the list": lambda larder, own, rows: _middle(larder, "/v1/notes", own, rows),
        "map of a city": "/v1/notes/map?bbox=13.0,52.3,13.8,52.7", "map of the world": "/v1/notes/map", "search": "/v1/notes?limit=50&q=walk%20dog42",
        "search of a letter": "/v1/notes?limit=50&q=w", "search of a word of all": "/v1/notes?limit=50&q=walk", "search in Japanese": _text("公園七で散歩"),
        "search in Thai": _text("สวนสาธารณะ"), "search of an emoji": _text("🐕‍🦺"),
        "search of ten notes": _text("lighthouse"), "search of ten notes in Japanese": _text("灯台守の家"), "search of ten notes in Thai": _text("ประภาคาร"),
        "places by name": "/v1/notes/places?q=Place%204",
        "details": lambda larder, own, rows: "/v1/notes/" + call("GET", larder.base + "/v1/notes?limit=1", headers=own)["data"]["items"][0]["id"],
    }),
    "documents": (_documents, _script(DOCUMENTS), {
        "list": "/v1/pdf/documents?limit=50", "middle of the list": lambda larder, own, rows: _middle(larder, "/v1/pdf/documents", own, rows),
        "details": lambda larder, own, rows: f"/v1/pdf/documents/{rows // 2:016x}", "search": "/v1/pdf/documents?limit=50&q=document%204",
    }),
    "shopping list": (_no_setup, _script(LINES), {
        "list": "/v1/shop/list?limit=50", "middle of the list": lambda larder, own, rows: _middle(larder, "/v1/shop/list", own, 1000),
    }),
    "products": (_shop, _script(PRODUCTS), {
        "search of a word of all": "/v1/shop/search?limit=10&q=use", "search": "/v1/shop/search?limit=10&q=thing%20423",
        "search by price": "/v1/shop/search?limit=10&q=use&sort=price", "search by relevance": "/v1/shop/search?limit=10&q=use&sort=relevance",
        "details": lambda larder, own, rows: f"/v1/shop/products/{1000000 + rows // 2}",
    }),
    "files": (_disk, _script(FILES), {
        "folder": "/v1/disk/files?path=disk:/made&limit=20", "details": "/v1/disk/file?path=disk:/made/note%201.txt",
        "search of a word of all": "/v1/disk/search?limit=20&q=letter", "search of a part of a name": "/v1/disk/search?limit=20&q=ter%2000004",
    }),
}


# Larder keeps at most so many ships (ShipWrite.maximumKnown): their search compares all of them.
MOST = {"ships": 20_000}
# The case of each app by itself.
SIZES = {app: f"sizes-{app.replace(' ', '-')}" for app in APPS}


def _measure(executable, data, sandbox, app, rows):
    settings = ["--rendered-budget-mb", "0", "--cache-budget-mb", "100000", "--upstreams-yandex-disk-url", f"{sandbox.base}/yandex_disk",
                "--upstreams-yandex-oauth-url", f"{sandbox.base}/yandex_oauth", "--freshness-disk-s", "3600", "--freshness-disk-search-s", "3600"]
    prepare, fill, screens = APPS[app]
    rows = min(rows, MOST.get(app, rows))
    larder = Larder(executable, data, sandbox, *settings)
    own = prepare(larder, sandbox)
    larder.stop()
    with sqlite3.connect(f"{data}/larder.sqlite") as database:
        fill(database, rows)
    database.close()
    larder = Larder(executable, data, sandbox, *settings)
    result = {}
    for name, target in screens.items():
        path = target if isinstance(target, str) else target(larder, own, rows)
        latencies(larder, own, lambda: path, count=100)
        before = larder.thread_seconds()
        times = latencies(larder, own, lambda: path, count=COUNT)
        result[name] = ((larder.thread_seconds() - before) * 1000 / COUNT, times)
    larder.stop()
    return result


def sizes(options, folder, sandbox, apps, counts):
    print(f"\n| processor time in ms (p50 / p99 in ms) | {' | '.join(f'{count:,} rows' for count in counts)} | last ÷ first |\n|---|{'---|' * (len(counts) + 1)}")
    drawn = {}
    for app in apps:
        results = [_measure(options.larder, f"{folder}/{SIZES[app]}-{rows}", sandbox, app, rows) for rows in counts]
        for name in results[0]:
            costs = [result[name][0] for result in results]
            drawn[f"{app}: {name}"] = costs
            cells = " | ".join(f"{cost:.2f} ({times})" for cost, times in (result[name] for result in results))
            print(f"| {app}: {name} | {cells} | {costs[-1] / costs[0]:.2f} |", flush=True)
    sandbox.fault("online", "catalogue")
    if options.pictures and len(apps) == len(APPS):
        pictures.lines(f"{options.pictures}/sizes.svg", "Cost of a screen by the number of rows", "processor time in ms", counts, drawn)
