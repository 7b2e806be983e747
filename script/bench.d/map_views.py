"""How long views of the map, lists and searches take over many notes of one account."""
import math, random, sqlite3, time
from urllib.parse import quote

from larder import Larder, call
from latency import latencies

DEEPEST = 14  # The zoom whose cells the rows name.
VIEWS = {
    "map, a street": "map?bbox=13.400,52.500,13.410,52.506",
    "map, a city": "map?bbox=13.0,52.3,13.8,52.7",
    "map, a city at zoom 11": "map?bbox=13.0,52.3,13.8,52.7&zoom=11",
    "map, an ocean across the antimeridian": "map?bbox=150,-50,-120,50",
    "map, the world": "map",
    "map, the world at zoom 2": "map?zoom=2",
    "list": "?limit=100",
    "search": "?limit=100&q=walk%20dog42",
    "search in Japanese, a word of half of the notes": "?limit=100&q=" + quote("散歩"),
    "search in Japanese, a passage of a hundredth": "?limit=100&q=" + quote("公園七で散歩"),
    "search in Thai, a passage of a hundredth": "?limit=100&q=" + quote("สวนสาธารณะ"),
    "search of an emoji of a hundredth": "?limit=100&q=" + quote("🐕‍🦺"),
    "search in Japanese, of a word that no note has": "?limit=100&q=" + quote("海岸で散歩"),
}


def _cell(latitude, longitude):
    """The cell of the deepest grid: Web Mercator, four cells a tile."""
    side = 1 << (DEEPEST + 2)
    sine = math.sin(math.radians(latitude))
    y = 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)
    return tuple(max(0, min(side - 1, math.floor(share * side))) for share in ((longitude + 180) / 360, y))


def _notes(count):
    """Half of them in one city, half all over the world."""
    chance = random.Random(11)
    for number in range(1, count + 1):
        latitude, longitude = (chance.uniform(52.3, 52.7), chance.uniform(13, 13.8)) if number % 2 else (chance.uniform(-60, 75), chance.uniform(-180, 180))
        body = f"note number {number} of a long walk with dog{number % 100}"
        if number % 2 == 0:
            body += f"、東京の公園{'一二三四五六七八九十'[number // 2 % 10]}で{'長い' * (number // 20 % 5 > 0)}散歩した"
        if number % 100 == 33:
            body += " วิ่งเล่นในสวนสาธารณะ 🐕‍🦺"
        if number <= 10:
            body += " lighthouse 灯台守の家 ประภาคาร"
        yield (number, body, body, latitude, longitude, f"Place {number % 500}", *_cell(latitude, longitude), number * 1000, number * 1000, number)


def fill(database, notes):
    """Adds notes of the first account."""
    database.executemany("INSERT INTO note VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _notes(notes))
    # The index of terms is made by Larder, as for a database of an earlier build.
    database.executescript("""
        DROP TABLE note_term; DROP TABLE note_passage; CREATE TABLE note_text (body);
        DELETE FROM grdb_migrations WHERE identifier = 'notes/008 terms';
        """)
    database.execute("INSERT INTO note_position SELECT id, longitude, longitude, latitude, latitude, account, account + 0.5 FROM note")
    database.execute("UPDATE notes_account SET revision = ?", [notes])


def map_views(executable, folder, sandbox, notes=100_000):
    data = f"{folder}/map"
    larder = Larder(executable, data, sandbox)
    session = call("POST", f"{larder.base}/v1/notes/session", {"mode": "register", "username": "anna", "password": "bench"})
    larder.stop()
    with sqlite3.connect(f"{data}/larder.sqlite") as database:
        fill(database, notes)
    database.close()

    began = time.monotonic()
    larder = Larder(executable, data, sandbox, "--rendered-budget-mb", "0")
    print(f"\nstart with an index to be made of {notes} notes: {time.monotonic() - began:.1f} s")
    own = {"Authorization": f"Bearer {session['data']['token']}"}
    print(f"\n| view of {notes} notes | p50 / p99 ms |\n|---|---|")
    for name, target in VIEWS.items():
        path = "/v1/notes" + ("/" + target if target.startswith("map") else target)
        latencies(larder, own, lambda: path, count=50)
        print(f"| {name} | {latencies(larder, own, lambda: path, count=1000)} |", flush=True)
    middle = call("GET", f"{larder.base}/v1/notes?limit=100&offset={notes // 2 - 100}", headers=own)["links"]["next"]
    print(f"| list, in the middle by cursor | {latencies(larder, own, lambda: middle, count=1000)} |", flush=True)
    larder.stop()
