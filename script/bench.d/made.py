"""What a response costs that is made for its request, beside two programs that have the same rows of the same database.

The floor is in C, and does nothing but that (floor.c); the peer does what a Go developer would write (peer.go).
"""
import os, shutil, subprocess, sys

from larder import Larder, call
from load import Table, measure
from processes import SERVER_CORE, Server, wait_for

SHIPS, MOUNT, FILES = "/v1/ships", "/v1/upstreams/spacex/v4/ships", "/v1/disk/files?path=disk:/made&limit=20"
ROWS = 20
# The columns are the members of a row of the screen. A name that begins with `=` is that of JSON.
PAGES = {
    "/ships": """
        SELECT '[{"confirm":null,"enabled":true,"href":"/v1/ships/' || id || '","id":"delete","method":"DELETE","title":"Delete"}]' AS "=actions",
            '/v1/ships/' || id AS href, id, '/v1/ships/' || id || '/image' AS image_url, name, type, coalesce(type, 'N/A') AS type_text,
            listed AS upstream_present, year_built, coalesce(year_built || '', 'N/A') AS year_built_text
        FROM ship WHERE removed_revision IS NULL ORDER BY sort_key, id LIMIT 100""",
    "/mount": """
        SELECT bytes FROM stored_response JOIN stored_body ON response_id = id
        WHERE upstream = 'spacex' AND url = (SELECT url FROM stored_response WHERE upstream = 'spacex' ORDER BY id LIMIT 1) AND method = 'GET'
        LIMIT 1""",
    "/files": f"""
        SELECT '[{{"body":{{"path":' || json_quote(item.path) || '}},"confirm":null,"enabled":true,"href":"/v1/disk/offline",'
                || '"id":"keep_offline","method":"PUT","title":"Add to offline"}}]' AS "=actions",
            item.created AS created_at, item.created || '' AS created_text, 0 AS downloaded, '/v1/disk/file?path=' || item.path AS href,
            'word' AS icon, 0 AS kept_offline, item.media_type, item.mime_type, item.modified AS modified_at, item.modified || '' AS modified_text,
            item.name, item.path, null AS preview_url, item.public_url, item.published, item.size,
            item.size || ' KB' AS size_text, item.kind AS type, 'text' AS viewer
        FROM page JOIN page_row ON page_row.page_id = page.id
        JOIN disk_item AS item ON 'disk/' || item.account = page.account AND item.path = page_row.row_key
        WHERE page.screen = 'files' ORDER BY page_row.position LIMIT {ROWS}""",
}


class Floor(Server):
    name = "floor"

    def __init__(self, folder, database):
        source = os.path.join(os.path.dirname(__file__), "floor.c")
        command = ["cc", "-O2", "-o", f"{folder}/floor", source, "-lmicrohttpd", "-lsqlite3"]
        if subprocess.run(command).returncode:
            sys.exit("the floor could not be built: apt-get install gcc libmicrohttpd-dev libsqlite3-dev")
        arguments = [text for page in PAGES.items() for text in page]
        super().__init__([f"{folder}/floor", database, *arguments], SERVER_CORE, stdout=subprocess.PIPE, text=True)
        self.base = self.process.stdout.readline().strip()


class Peer(Server):
    name = "peer"
    # Debian's packages of Go: golang-github-mattn-go-sqlite3-dev.
    environment = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOMAXPROCS": "1"}

    def __init__(self, folder, database):
        source = os.path.join(os.path.dirname(__file__), "peer.go")
        environment = os.environ | self.environment
        command = ["go", "build", "-tags", "libsqlite3", "-o", f"{folder}/peer", source]
        if subprocess.run(command, env=environment).returncode:
            sys.exit("the peer could not be built")
        super().__init__([f"{folder}/peer", database], SERVER_CORE, stdout=subprocess.PIPE, text=True, env=environment)
        self.base = self.process.stdout.readline().strip()


def _fetch(larder, sandbox, own):
    """Fetches what is shown."""
    for number in range(ROWS):
        call("PUT", f"{sandbox.base}/_sandbox/yandex_disk/files", {"path": f"disk:/made/note {number}.txt", "base64": "bWFkZQ=="})
    for path in (SHIPS, MOUNT, FILES):
        wait_for(larder.base + path, own[path])


def _go_away(larder, sandbox, own):
    """Lets Larder find its upstreams away."""
    for upstream in ("spacex", "yandex_disk"):
        sandbox.fault("offline", upstream)
    for path in (SHIPS, FILES):
        wait_for(f"{larder.base}{path}{'&' if '?' in path else '?'}refresh=1", own[path])
        _, fields = wait_for(larder.base + path, own[path])
        assert "detail=offline" in fields["Cache-Status"], fields["Cache-Status"]


def made(options, folder, sandbox):
    """Rows of a table with Larder, which caches no complete responses, and the floor. The rounds of both alternate."""
    data = f"{folder}/made"
    larder = Larder(
        options.larder, data, sandbox, "--rendered-budget-mb", "0", "--upstreams-yandex-disk-url", f"{sandbox.base}/yandex_disk",
        "--upstreams-yandex-oauth-url", f"{sandbox.base}/yandex_oauth")
    disk = call("POST", f"{larder.base}/v1/disk/session", {"mode": "oauth_token", "access_token": "sandbox-token"})["data"]["token"]
    own = {SHIPS: larder.guest(), MOUNT: {}, FILES: {"Authorization": f"Bearer {disk}"}}
    _fetch(larder, sandbox, own)
    floor = Floor(folder, f"{data}/larder.sqlite")
    table = Table(["larder, rendered.budget_mb 0", "floor"], "floor")

    def compare(title, path, same):
        sizes = [len(wait_for(base + target, own[path])[0]) for base, target in ((larder.base, path), (floor.base, same))]
        servers = [(larder, path, own[path]), (floor, same, {})]
        for row in measure(options, servers, f"{title}, {sizes[0]} / {sizes[1]} bytes", {}, below=256):
            table.row(*row)

    compare("raw mount, fresh", MOUNT, "/mount")
    _go_away(larder, sandbox, own)
    compare("screen of ships, offline", SHIPS, "/ships")
    compare(f"folder of {ROWS} files, offline", FILES, "/files")
    if options.pictures:
        table.draw(f"{options.pictures}/made.svg", "Responses that are made")
    floor.stop()
    if shutil.which("go"):
        peer = Peer(folder, f"{data}/larder.sqlite")
        table = Table(["larder, rendered.budget_mb 0", "Go"], "Go")
        for title, path in (("screen of ships, offline", SHIPS), (f"folder of {ROWS} files, offline", FILES)):
            servers = [(server, path, own[path]) for server in (larder, peer)]
            sizes = " / ".join(str(len(wait_for(server.base + path, own[path])[0])) for server, _, _ in servers)
            for row in measure(options, servers, f"{title}, {sizes} bytes", {}, below=256):
                table.row(*row)
        peer.stop()
    else:
        print("No Go, so no peer: apt-get install golang-go golang-github-mattn-go-sqlite3-dev")
    larder.stop()
    for upstream in ("spacex", "yandex_disk"):
        sandbox.fault("online", upstream)
