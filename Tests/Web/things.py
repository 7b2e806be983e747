"""What tests put into the apps: pictures, documents, notes, a shopping list."""
import json, struct, uuid, zlib

PLACES = [("Laguna St, San Francisco", 37.79, -122.42), ("Αθήνα", 37.98, 23.73), ("Москва", 55.75, 37.62),
          ("Nairobi", -1.29, 36.82), ("Sydney", -33.87, 151.21)]


def photo(colour=(10, 107, 76), width=240, height=320):
    """A PNG with a gradient, so that pages differ."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    def pixel(y, part):
        return min(255, part + y * 120 // height)

    rows = b"".join(b"\0" + bytes(pixel(y, part) for part in colour) * width for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def file(name, content=None, kind="image/png"):
    """A file as a picker gives it."""
    return {"name": name, "mimeType": kind, "buffer": photo() if content is None else content}


def document(larder, photos=2, save=True):
    """Makes a PDF document of photos; its id."""
    boundary = uuid.uuid4().hex
    parts = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{n}.png"\r\n'
        f"Content-Type: image/png\r\n\r\n".encode() + photo((40 * n % 200, 107, 200 - 40 * n % 200)) + b"\r\n"
        for n in range(photos)) + f"--{boundary}--\r\n".encode()
    fields = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    data = larder.call("POST", "/v1/pdf/documents", parts, **fields)["data"]
    made = data["items"][0] if "items" in data else data
    if save:
        larder.call("POST", f"/v1/pdf/documents/{made['id']}/save", {})
    return made["id"]


def note(visitor, body, place=None):
    """Writes a note; its id."""
    name, lat, lon = place or (None, None, None)
    location = {"location": {"name": name, "lat": lat, "lon": lon}} if place else {}
    return visitor.send("POST", "/v1/notes", {"body": body, **location}).json()["data"]["id"]


def notes(visitor, count=5):
    return [note(visitor, f"Note {n} of {PLACES[n % len(PLACES)][0]}\nA second line", PLACES[n % len(PLACES)])
            for n in range(count)]


def shopping(visitor, *products):
    """Puts products on the list."""
    for product in products or (1, 2, 3):
        visitor.send("POST", "/v1/shop/list/items", {"product_id": product, "quantity": product})


def wait_for_stream(page):
    """Waits until the browser hears of events."""
    page.wait_for_function("""async () => {
        const metrics = await (await fetch('/metrics')).text();
        return /^larder_event_listeners [1-9]/m.test(metrics);
    }""")


def wait_for_upstream(page, name):
    """Waits until the server knows that an upstream answers again."""
    page.wait_for_function("""async name => {
        const {data} = await (await fetch('/v1/status')).json();
        return data.upstreams.find(one => one.name === name).reachable;
    }""", arg=name)


def wait_for_mode(page, name, mode):
    """Waits until the server has an upstream recorded, played back, and so on."""
    page.wait_for_function("""async ([name, mode]) => {
        const {mode: now} = await (await fetch(`/v1/harness/upstreams/${name}`)).json();
        return now === mode;
    }""", arg=[name, mode])
