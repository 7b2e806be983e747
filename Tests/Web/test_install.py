"""The pages as an app of a device: its icons and shortcuts, and the files that the share sheet sends to it."""
import re, struct

import axe
import pytest
import things
from engines import until
from playwright.sync_api import expect

PHOTOS = [("red.png", (150, 30, 20)), ("Зелёное фото.png", (10, 107, 76))]


def manifest(visitor):
    return visitor.send("GET", "/manifest.webmanifest").json()


def install(page):
    """What a browser tells a page whose app it has just installed; waits until it takes what is shared."""
    page.evaluate("dispatchEvent(new Event('appinstalled'))")
    until(lambda: page.evaluate("""async () => {
        const [one] = await navigator.serviceWorker.getRegistrations();
        return one?.active?.state === 'activated';
    }"""), "the worker to be active")


def share(page, files):
    """What the share sheet of a system does: a form that is sent to the installed app."""
    page.evaluate("""() => {
        const form = document.createElement('form');
        Object.assign(form, {method: 'post', enctype: 'multipart/form-data', action: '/share', id: 'sheet'});
        const input = document.createElement('input');
        Object.assign(input, {type: 'file', name: 'files', multiple: true});
        form.append(input);
        document.body.append(form);
    }""")
    page.locator("#sheet input").set_input_files(files)
    page.evaluate("document.getElementById('sheet').submit()")
    page.get_by_role("heading", name="Shared with Larder").wait_for()


def photos():
    return [things.file(name, things.photo(colour)) for name, colour in PHOTOS]


@pytest.fixture
def app(visitor):
    page = visitor.open("/")
    install(page)
    return page


def test_web_47_the_pages_have_icons_and_shortcuts(visitor):
    found = manifest(visitor)
    sizes = {}
    for icon in found["icons"]:
        response = visitor.send("GET", icon["src"])
        assert response.headers["content-type"].split(";")[0] == icon["type"]
        if icon["type"] == "image/png":
            head = struct.unpack(">II", response.body()[16:24])
            assert icon["sizes"] == f"{head[0]}x{head[1]}"
            sizes.setdefault(icon["purpose"], []).append(head[0])
    assert sizes == {"any": [192, 512], "maskable": [512]}
    assert found["display"] == "standalone" and found["start_url"] == "/"
    visitor.log_in("notes", "disk")
    for shortcut in found["shortcuts"]:
        page = visitor.open(shortcut["url"])
        expect(page.locator("h1")).not_to_have_text("There is no such page")
        page.close()
    assert found["share_target"]["action"] == "/share"


def test_web_47_the_drawing_of_an_icon_is_seen(visitor):
    """In the middle the label of the jar, at the edge its ground; of the maskable one also in the corner."""
    page = visitor.open("/")
    for icon in manifest(visitor)["icons"][:3]:
        middle, corner = page.evaluate("""async source => {
            const image = Object.assign(new Image(), {src: source});
            await image.decode();
            const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.width});
            const pen = canvas.getContext('2d');
            pen.drawImage(image, 0, 0);
            return [[0.5, 0.55], [0, 0]].map(([x, y]) => [...pen.getImageData(x * image.width, y * image.width, 1, 1)
                .data]);
        }""", icon["src"])
        assert middle == [255, 255, 255, 255]
        assert corner[3] == (255 if icon["purpose"] == "maskable" else 0)


def test_web_47_shared_photos_become_a_document(app, visitor, larder):
    share(app, photos())
    expect(app.locator(".row-name")).to_have_text([name for name, _ in PHOTOS])
    axe.check(app)
    # They stay until something is made of them.
    app.reload()
    app.get_by_role("link", name="Make a PDF").click()
    expect(app.locator(".photos .row-name")).to_have_text([name for name, _ in PHOTOS])
    app.get_by_role("button", name="Make PDF").click()
    expect(app.get_by_role("img", name="Page 2")).to_be_visible()
    app.goto("/share")
    expect(app.get_by_role("heading", name="Shared with Larder")).to_have_count(0)
    app.locator(".home-cards").wait_for()
    assert app.evaluate("caches.keys()") == []


@pytest.mark.parametrize("is_onboarded", [True, False])
def test_web_47_shared_files_are_saved_to_the_disk_after_a_login(app, visitor, larder, is_onboarded):
    if is_onboarded:
        visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    share(app, [things.file("Заметки.txt", "Молоко".encode(), "text/plain")])
    # No page can be made of a text.
    expect(app.get_by_role("link", name="Make a PDF")).to_have_count(0)
    app.get_by_role("button", name="Save to the Disk").click()
    app.get_by_role("button", name="Log in as anna").click()
    app.get_by_role("heading", name="Shared with Larder").wait_for()
    app.get_by_role("button", name="Save to the Disk").click()
    app.get_by_role("dialog").get_by_role("button", name="Save here").click()
    expect(app.locator(".tray-item")).to_contain_text("Uploaded")
    expect(app.get_by_role("link", name="Заметки.txt", exact=True)).to_be_visible()
    # They are kept until they are there.
    until(lambda: app.evaluate("caches.keys()") == [], "the shared file to be forgotten")
    stored = visitor.send("GET", "/v1/disk/file/content?path=disk%3A%2FЗаметки.txt")
    assert stored.body().decode() == "Молоко"


def test_web_47_what_is_not_wanted_is_discarded(app):
    share(app, photos())
    app.get_by_role("button", name="Discard").focus()
    app.keyboard.press("Enter")
    app.locator(".home-cards").wait_for()
    assert app.evaluate("caches.keys()") == []


def test_web_47_the_worker_takes_no_part_in_screens_and_calls(app, visitor, larder):
    registered = app.evaluate("""async () => (await navigator.serviceWorker.getRegistrations())
        .map(one => [new URL(one.scope).pathname, new URL(one.active.scriptURL).pathname])""")
    assert [scope for scope, _ in registered] == ["/share"]
    assert re.fullmatch(r"/web/\w+/worker\.js", registered[0][1])
    share(app, photos())
    assert app.evaluate("navigator.serviceWorker.controller !== null")
    app.goto("/shop")
    app.locator(".product").first.wait_for()
    assert app.evaluate("navigator.serviceWorker.controller") is None
    # Nothing is kept but what was shared.
    kept = app.evaluate("""async () => {
        const names = await caches.keys();
        const requests = await Promise.all(names.map(async name => (await (await caches.open(name)).keys())));
        return requests.flat().map(one => new URL(one.url).pathname);
    }""")
    assert len(kept) == 2 and all(re.fullmatch(r"/share/[0-9a-f-]{36}", path) for path in kept)


def test_web_47_what_is_shared_later_comes_beside_what_is_not_used_yet(app):
    share(app, photos()[:1])
    share(app, photos()[1:])
    expect(app.locator(".row-name")).to_have_text([name for name, _ in PHOTOS])
    app.get_by_role("button", name="Discard").click()
    app.locator(".home-cards").wait_for()
    assert app.evaluate("caches.keys()") == []


@pytest.mark.parametrize("locale, words", [("en-GB", "Please share it again"), ("ru-RU", "Отправьте ещё раз")])
def test_web_47_it_is_said_if_files_did_not_arrive(visit, larder, locale, words):
    page = visit(larder, locale=locale).open("/share?failed=1")
    expect(page.locator(".banner")).to_contain_text(words)
    axe.check(page)


def test_web_47_files_that_no_worker_has_taken_lead_to_a_page_that_says_so(visitor):
    """The browser has forgotten its worker, or has never had one."""
    page = visitor.open("/")
    share(page, photos())
    expect(page.locator(".banner")).to_contain_text("Please share it again")
    # Then it has one.
    until(lambda: page.evaluate("""async () => {
        const [one] = await navigator.serviceWorker.getRegistrations();
        return one?.active?.state === 'activated';
    }"""), "the worker to be active")
    share(page, photos())
    expect(page.locator(".row-name")).to_have_text([name for name, _ in PHOTOS])
    expect(page.locator(".banner")).to_have_count(0)


@pytest.mark.parametrize("locale, shortcut", [("en-GB", "New note"), ("ru-RU", "Новая заметка")])
def test_web_47_the_shortcuts_are_in_the_language_of_the_pages(visit, larder, locale, shortcut):
    page = visit(larder, locale=locale).open("/")
    found = page.evaluate("async () => (await fetch(document.querySelector('[rel=manifest]').href)).json()")
    assert found["lang"] == locale[:2] and found["shortcuts"][0]["name"] == shortcut
    assert {**found, "lang": "", "description": "", "shortcuts": []} == {
        **manifest(visit(larder)), "lang": "", "description": "", "shortcuts": []}


def test_web_47_no_other_script_becomes_trusted(app, visitor):
    tried = app.evaluate("""() => ['worker', 'other'].map(name => {
        try { trustedTypes.createPolicy(name, {createScript: text => text}); return null; }
        catch (error) { return error.name; }
    })""")
    assert tried == ["TypeError", "TypeError"]
    # Nor is an address that no policy has made.
    refused = app.evaluate("""() => Promise.all([
        () => navigator.serviceWorker.register('/web/other.js', {scope: '/share'}), () => new Worker('/web/other.js'),
        () => { document.createElement('script').src = '/web/other.js'; },
    ].map(async act => { try { await act(); return null; } catch (error) { return error.name; } }))""")
    assert refused == ["TypeError"] * 3
    assert visitor.take_faults(app)
