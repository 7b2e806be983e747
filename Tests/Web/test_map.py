"""The map of the notes: fingers, clusters, tiles of a mount."""
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import things
from engines import until
from playwright.sync_api import expect
from screens import settle_map
from touch import Fingers, middle

VIEW = "(({x, y, zoom}) => ({x, y, zoom}))(document.querySelector('larder-map').view)"
RED = (200, 16, 46)


def view(page):
    return page.evaluate(VIEW)


def wait_for_view(page, condition, begin):
    page.wait_for_function(f"begin => {{ const view = {VIEW}; return {condition}; }}", arg=begin)


@pytest.fixture
def phone(visit, larder):
    visitor = visit(larder, width=390, height=844)
    visitor.log_in("notes")
    return visitor


def open_map(visitor):
    page = visitor.open("/notes/map")
    page.locator(".map-pin, .map-cluster").first.wait_for()
    settle_map(page)
    page.locator("larder-map").scroll_into_view_if_needed()
    return page


def test_web_26_the_map_is_moved_and_zoomed_by_fingers(phone):
    things.notes(phone, 1)
    page = open_map(phone)
    x, y = middle(page.locator("larder-map"))
    fingers = Fingers(page)
    begin = view(page)
    fingers.drag((x, y + 60), (x - 90, y + 60))
    wait_for_view(page, "view.x > begin.x", begin)
    assert view(page)["zoom"] == begin["zoom"]
    begin = view(page)
    fingers.down((x - 20, y), (x + 20, y))
    fingers.move((x - 100, y), (x + 100, y))
    fingers.up()
    wait_for_view(page, "view.zoom > begin.zoom + 1", begin)
    begin = view(page)
    fingers.down((x - 100, y), (x + 100, y))
    fingers.move((x - 40, y), (x + 40, y))
    fingers.up()
    wait_for_view(page, "view.zoom < begin.zoom - 0.5", begin)
    # The page itself stayed where it was: the fingers were the map's.
    assert page.evaluate("visualViewport.scale") == 1


def test_web_26_a_tap_on_a_pin_opens_its_note(phone):
    things.note(phone, "A dog outside", ("Αθήνα", 37.98, 23.73))
    page = open_map(phone)
    page.get_by_role("button", name=re.compile("A dog outside")).tap()
    page.get_by_role("link", name=re.compile("A dog outside.*Open the note", re.S)).tap()
    expect(page.locator("h1")).to_have_text("A dog outside")


def test_web_26_what_a_pin_says_is_inside_of_the_map(phone):
    for lat, lon in [(0, 0), (0, -28), (0, 28), (28, 0), (-28, 0)]:
        things.note(phone, f"A note of {lat}° and {lon}°, written there", ("Somewhere far away", lat, lon))
    page = phone.open("/notes/map?lat=0&lon=0&zoom=3.00")
    pins = page.locator(".map-pin")
    expect(pins).to_have_count(5)
    settle_map(page)
    outer = page.locator("larder-map").bounding_box()
    for pin in pins.all():
        pin.dispatch_event("click")

        def is_inside():
            inner = page.locator(".callout").bounding_box()
            return inner and all(
                outer[side] <= inner[side] and inner[side] + inner[size] <= outer[side] + outer[size]
                for side, size in [("x", "width"), ("y", "height")]
            )

        until(is_inside, f"the callout of {pin} to be inside of the map")


def test_web_26_notes_without_a_place_are_no_pins(phone):
    for place in [None, None, ("Nairobi", -1.29, 36.82), ("Αθήνα", 37.98, 23.73)]:
        things.note(phone, "A note", place)
    page = open_map(phone)
    expect(page.locator(".map-pin")).to_have_count(2)
    expect(page.locator(".map-cluster")).to_have_count(0)
    expect(page.get_by_text("Notes without a place: 2")).to_be_visible()


def test_web_26_only_notes_without_a_place_have_no_map_to_go_to(phone):
    things.note(phone, "A note")
    page = phone.open("/notes/map")
    expect(page.get_by_text("Notes without a place: 1")).to_be_visible()
    expect(page.get_by_role("button", name="Show all notes")).to_have_count(0)


def test_web_26_the_first_view_cuts_no_pin(phone):
    things.notes(phone)
    page = open_map(phone)
    outer = page.locator("larder-map").bounding_box()
    for mark in page.locator(".map-pin, .map-cluster").all():
        inner = mark.bounding_box()
        assert outer["x"] <= inner["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        assert outer["y"] <= inner["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"]
    # The words of the scale are not wider than it is.
    assert page.locator(".map-scale").evaluate("scale => scale.scrollWidth <= scale.clientWidth")


def test_web_26_a_place_is_chosen_by_a_finger(phone):
    page = phone.open("/notes/new")
    page.get_by_label("Text").fill("Here")
    page.get_by_text("Press the map, or move it, to choose a place.").wait_for()
    chart = page.locator("larder-map")
    chart.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('larder-map').view.width > 0")
    chart.evaluate("chart => chart.show(37.98, 23.73, 5)")
    x, y = middle(chart)
    Fingers(page).drag((x, y), (x - 60, y - 40))
    expect(page.get_by_text("The middle of the map is the place of the note.")).to_be_visible()
    place = chart.evaluate("chart => chart.middle")
    assert place["lon"] > 23.73 and place["lat"] < 37.98
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("h1")).to_have_text("Here")
    stored = phone.send("GET", "/v1/notes").json()["data"]["items"][0]["location"]
    assert stored["lat"] == pytest.approx(place["lat"], abs=0.0001)
    assert stored["lon"] == pytest.approx(place["lon"], abs=0.0001)


@pytest.mark.parametrize("press", ["tap", "keyboard"])
def test_web_26_a_cluster_opens_into_its_pins(phone, press):
    names = ["On the Acropolis", "At the foot of it"]
    for number, name in enumerate(names):
        things.note(phone, name, ("Αθήνα", 37.9 + number / 5, 23.6 + number / 5))
    things.note(phone, "Far away", ("Sydney", -33.87, 151.21))
    page = open_map(phone)
    cluster = page.get_by_role("button", name="2 notes, zoom in")
    expect(cluster).to_have_text("2")
    # The list beside says the same.
    expect(page.get_by_role("button", name="2 notes close together")).to_be_visible()
    presses = 0
    while cluster.count():
        begin = view(page)
        if press == "tap":
            cluster.tap()
        else:
            cluster.focus()
            page.keyboard.press("Enter")
        # The last step may be a short one, to where the map ends.
        wait_for_view(page, "view.zoom >= Math.min(begin.zoom + 1, 7) && view.zoom > begin.zoom", begin)
        settle_map(page)
        presses += 1
        assert presses < 14
    for name in names:
        expect(page.get_by_role("button", name=re.compile(name))).to_be_attached()
        expect(page.get_by_role("link", name=re.compile(name))).to_be_attached()


def test_web_26_notes_of_one_place_come_apart_when_the_map_is_near(phone):
    for number in range(3):
        things.note(phone, f"At home {number}", ("Αθήνα", 37.98, 23.73))
    page = phone.open("/notes/map?lat=37.98&lon=23.73&zoom=15")
    settle_map(page)
    for number in range(3):
        expect(page.get_by_role("link", name=re.compile(f"At home {number}"))).to_be_attached()


@pytest.fixture
def tiles():
    """A service of map tiles that are red."""
    class Service(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            picture = things.photo(RED, 256, 256)
            self.send_response(200)
            for name, value in {"Content-Type": "image/png", "Cache-Control": "max-age=1",
                                "Content-Length": str(len(picture))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(picture)

        def log_message(self, *_):
            pass

    asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.asked = asked
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def wait_for_red(page):
    """Waits until the middle of the map has the colour of the tiles."""
    page.wait_for_function("""() => {
        const canvas = document.querySelector('larder-map canvas');
        if (!canvas?.width) return false;
        const [red, green, blue] = canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
        return red > 150 && green < 200 && blue < 200 && red > green + 30;
    }""")


def test_web_26_tiles_come_through_a_mount_and_stay_when_their_service_is_gone(start, visit, tiles):
    larder = start(upstreams_tiles_url=tiles.url, web_tiles="tiles", web_tiles_attribution="© Red tiles")
    visitor = visit(larder)
    visitor.log_in("notes")
    things.note(visitor, "Only one", ("Αθήνα", 37.98, 23.73))
    page = open_map(visitor)
    wait_for_red(page)
    expect(page.get_by_text("© Red tiles")).to_be_visible()
    assert any(re.fullmatch(r"/\d+/\d+/\d+\.png", path) for path in tiles.asked), tiles.asked
    assert visitor.foreign() == []
    tiles.shutdown()
    tiles.server_close()
    # Another browser, whose own cache is empty.
    other = visit(larder)
    other.log_in(notes={"mode": "login", "username": "anna", "password": "correct horse"})
    again = other.context.new_page()
    again.goto(page.url)
    wait_for_red(again)
    assert other.foreign() == []


def empty_spot(page):
    """A place of the map that no pin is near to."""
    box = page.locator("larder-map").bounding_box()
    return {"x": box["width"] * 0.3, "y": box["height"] * 0.7}


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_web_26_a_press_begins_a_note_of_that_place(visit, larder, way):
    visitor = visit(larder, width=390 if way == "touch" else 1280)
    visitor.log_in("notes")
    things.note(visitor, "Far away", ("Sydney", -33.87, 151.21))
    page = visitor.open("/notes/map?lat=-20&lon=80&zoom=4")
    settle_map(page)
    surface = page.locator(".map-surface")
    if way == "keyboard":
        surface.focus()
        page.keyboard.press("Enter")
    elif way == "touch":
        surface.tap(position=empty_spot(page))
    else:
        surface.click(position=empty_spot(page))
    link = page.locator("a.callout")
    expect(link).to_contain_text("New note here")
    expect(link).to_be_focused()
    pin = page.locator(".map-callout .map-pin").bounding_box()
    box = surface.bounding_box()
    spot = {"x": box["width"] / 2, "y": box["height"] / 2} if way == "keyboard" else empty_spot(page)
    assert abs(pin["x"] + 18 - box["x"] - spot["x"]) < 3 and abs(pin["y"] + 34 - box["y"] - spot["y"]) < 3
    # Another press takes the offer back, and so does Escape.
    page.keyboard.press("Escape")
    expect(link).to_have_count(0)
    surface.click(position=empty_spot(page))
    surface.click(position=empty_spot(page))
    expect(link).to_have_count(0)
    surface.click(position=empty_spot(page))
    page.keyboard.press("Enter")
    page.get_by_label("Text").fill("At sea")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("h1")).to_have_text("At sea")
    stored = visitor.send("GET", "/v1/notes?q=sea").json()["data"]["items"][0]["location"]
    assert -60 < stored["lat"] < -10 and 40 < stored["lon"] < 90


@pytest.mark.parametrize("path", ["/notes/map?lat=-20&lon=80&zoom=4", "/notes/new?lat=-20&lon=80"])
def test_web_26_a_double_press_zooms_and_chooses_no_second_place(visit, larder, path):
    visitor = visit(larder)
    visitor.log_in("notes")
    page = visitor.open(path)
    page.wait_for_function("() => document.querySelector('larder-map')?.view.width > 0")
    before = view(page)["zoom"]
    page.evaluate("""() => {
        globalThis.places = 0;
        for (const type of ['press', 'pick']) {
            document.querySelector('larder-map').addEventListener(type, () => { places += 1; });
        }
    }""")
    page.locator(".map-surface").dblclick(position=empty_spot(page))
    page.wait_for_function(f"before => {VIEW}.zoom > before + 0.9", arg=before)
    assert page.evaluate("places") == 1


def spot_of(page, lat, lon):
    """Where a place is on the map."""
    return page.evaluate("""([lat, lon]) => {
        const {view} = document.querySelector('larder-map');
        const sine = Math.sin(lat * Math.PI / 180);
        const [x, y] = [lon / 360 + 0.5, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)];
        return {x: view.width / 2 + (x - view.x) * view.scale, y: view.height / 2 + (y - view.y) * view.scale};
    }""", [lat, lon])


def test_web_26_a_press_on_a_city_names_it(phone):
    page = phone.open("/notes/map?lat=60.2&lon=25&zoom=6")
    settle_map(page)
    page.wait_for_function("() => document.querySelector('larder-map').cities.some(city => city.name === 'Helsinki')")
    surface, callout = page.locator(".map-surface"), page.locator("a.callout")
    surface.tap(position=spot_of(page, 60.6, 24.94))
    expect(callout).to_contain_text("Near Helsinki")
    page.keyboard.press("Escape")
    surface.tap(position=spot_of(page, 60.17, 24.94))
    page.get_by_role("link", name=re.compile("New note here.*Helsinki", re.S)).tap()
    expect(page.get_by_role("combobox", name="Place")).to_have_value("Helsinki")


def test_web_26_a_place_is_chosen_by_a_press_and_cities_are_named(phone):
    page = phone.open("/notes/new?lat=60.2&lon=25")
    page.get_by_label("Text").fill("Here")
    page.wait_for_function("() => document.querySelector('larder-map').cities.some(city => city.name === 'Helsinki')")
    chart = page.locator("larder-map")
    chart.scroll_into_view_if_needed()
    page.locator(".map-surface").tap(position=spot_of(page, 59.44, 24.75))
    expect(page.get_by_role("combobox", name="Place")).to_have_value("Tallinn")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("h1")).to_have_text("Here")
    # The picture of the place names its surroundings, too.
    page.wait_for_function("() => document.querySelector('larder-map')?.cities.some(city => city.name === 'Helsinki')")


def test_web_26_the_map_ends_where_its_outline_does(phone):
    for number in range(4):
        things.note(phone, f"At home {number}", ("Αθήνα", 37.98, 23.73))
    page = phone.open("/notes/map?lat=37.98&lon=23.73&zoom=15")
    settle_map(page)
    assert view(page)["zoom"] == 7
    closer = page.get_by_role("button", name="Zoom in")
    expect(closer).to_have_attribute("aria-disabled", "true")
    closer.tap(force=True)
    settle_map(page)
    assert view(page)["zoom"] == 7
    # Notes of one place lie beside each other, so that each can be pressed.
    pins = page.locator(".map-pin")
    expect(pins).to_have_count(4)
    places = {tuple(round(part) for part in middle(pin)) for pin in pins.all()}
    assert len(places) == 4
    page.get_by_role("button", name=re.compile("At home 3")).tap()
    expect(page.get_by_role("link", name=re.compile("At home 3.*Open the note", re.S))).to_be_visible()
