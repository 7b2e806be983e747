"""The short walk in Firefox and WebKitGTK: `script/test-web --engines all`. The other tests are the long one."""
import json

import pytest
import things
from screens import SCREENS, SETTLED, furnish

SHIP = "A Gentle Landing, Mostly"
RUSSIAN = {"/": "Larder", "/status": "Пульт", "/shop?q=": "Магазин", "/ships": "Корабли", "/notes": "Заметки",
           "/notes/map": "Карта", "/pdf": "Документы", "/disk/files": "Диск"}


def test_web_33_every_screen_opens(walker):
    furnished = furnish(walker)
    for screen in SCREENS:
        walker.open(screen.path.format(**furnished))
        if screen.ready:
            walker.wait("return document.querySelector(arguments[0]) !== null", screen.ready)
        walker.wait(f"return ({SETTLED})()")
        wide, title, language = walker.run("return [document.documentElement.scrollWidth > innerWidth, document.title, "
                                           "document.documentElement.lang]")
        assert (wide, language) == (False, "en") and "Larder" in title, screen.name


def test_web_33_pages_are_in_the_language_that_is_chosen(walker):
    furnish(walker)
    walker.open("/")
    walker.click("button", "Menu")
    walker.click("menuitem", "Русский")
    walker.wait("return document.documentElement.lang === 'ru'")
    for path in RUSSIAN:
        walker.open(path)
        walker.wait(f"return ({SETTLED})()")
        assert walker.run("return document.documentElement.lang") == "ru"
        walker.see("Заметки")
        walker.miss("Notes")


def test_web_33_ships_are_listed_opened_deleted_and_come_back(walker, larder):
    walker.open("/ships")
    walker.click("button", "Continue as Guest")
    walker.there(".rows > li")
    walker.click("link", SHIP)
    walker.there("dialog .ship-facts")
    walker.press("Escape")
    walker.gone("dialog .ship-facts")
    walker.click("button", f"Delete {SHIP}")
    walker.see("Restore 1 deleted ship")
    walker.click("button", "Undo")
    walker.find("link", SHIP)
    larder.fault("spacex", "offline")
    larder_probes(walker)
    walker.see("No internet connection. You’re in Offline mode.")
    larder.fault("spacex", "online")
    walker.miss("No internet connection.")


def larder_probes(walker):
    """Another tab finds out that an upstream has gone."""
    walker.run("void fetch('/v1/ships?refresh=1')")


def test_web_33_a_note_is_written_and_changes_of_others_are_seen(walker, larder):
    walker.log_in("notes")
    walker.open("/notes")
    walker.click("link", "New note")
    walker.type("textbox", "Text", "A dog outside – собака")
    walker.click("button", "Save")
    walker.heading("A dog outside")
    walker.open("/notes")
    walker.see("A dog outside – собака")
    # The person's other device: a session of its own.
    login = {"mode": "login", "username": "anna", "password": "correct horse"}
    token = larder.call("POST", "/v1/notes/session", login)["data"]["token"]
    larder.call("POST", "/v1/notes", {"body": "From the phone"}, Authorization=f"Bearer {token}")
    walker.see("From the phone")


def test_web_33_a_folder_is_opened_and_a_file_goes_up_and_is_read(walker, larder, tmp_path):
    larder.control("PUT", "/yandex_disk/folders", {"path": "disk:/50 % # & ?"})
    walker.send("PUT", "/v1/disk/onboarding", {"seen": True})
    walker.open("/disk")
    walker.click("button", "Log in as anna")
    walker.there(".rows > li")
    walker.open("/disk/files")
    walker.click("link", "50 % # & ?")
    walker.heading("50 % # & ?")
    upload = tmp_path / "Привет.txt"
    upload.write_text("Прочти меня")
    walker.pick("Upload", upload)
    walker.click("link", "Привет.txt")
    walker.see("Прочти меня")


def test_web_33_a_photo_becomes_a_document_that_is_read(walker, tmp_path):
    walker.send("PUT", "/v1/pdf/welcome", {"seen": True})
    photo = tmp_path / "photo.png"
    photo.write_bytes(things.photo())
    walker.open("/pdf/new")
    walker.pick("Choose photos", photo)
    walker.see("photo.png")
    walker.click("button", "Make PDF")
    walker.wait("return [...document.querySelectorAll('.leaf-item img')].some(image => image.naturalWidth > 0)")
    walker.see("Draft")


def test_web_33_products_are_searched_and_put_on_the_list(walker):
    walker.open("/shop")
    walker.there(".product")
    walker.type("combobox", "Search", "shirt\ue007")
    walker.wait("return location.search.includes('q=shirt')")
    walker.wait("return !document.querySelector('.skeleton, [aria-busy=true]') && document.querySelector('.product')")
    title = walker.run("return document.querySelector('.product-title').textContent")
    walker.click("link", title)
    walker.heading(title)
    walker.click("button", walker.wait("return document.querySelector('main .quantity button.primary')?.ariaLabel"))
    walker.there("main .quantity output")
    walker.open("/shop/list")
    walker.see(title)


def test_web_33_the_map_has_pins_and_is_moved_by_keys(walker):
    walker.log_in("notes")
    things.notes(walker, 2)
    walker.open("/notes/map")
    walker.there(".map-pin")
    x = walker.run("return document.querySelector('larder-map').view.x")
    walker.run("document.querySelector('larder-map .map-surface').focus()")
    walker.press("ArrowRight")
    walker.wait("return document.querySelector('larder-map').view.x > arguments[0]", x)


def test_web_33_the_control_room_and_a_server_that_is_away(walker, larder):
    walker.open("/status")
    walker.click("button", "Take everything offline")
    walker.wait("return document.querySelector('.upstream[data-name=spacex] .tag').innerText.includes('Offline')")
    walker.click("button", "Bring everything back")
    walker.wait("return !document.querySelector('.upstream[data-name=spacex] .tag').innerText.includes('Offline')")
    larder.stop()
    walker.see("Larder does not answer")
    larder.start()
    walker.miss("Larder does not answer")


@pytest.mark.parametrize("kind", ["console", "exception", "rejection"])
def test_web_33_a_script_error_is_heard(walker, kind):
    walker.open("/status")
    walker.run("dispatchEvent(new CustomEvent('plant', {detail: arguments[0]}))", kind)
    heard = walker.wait("return JSON.parse(sessionStorage.getItem('test.faults'))")
    assert len(heard) == 1 and heard[0].startswith(kind) and "planted" in heard[0]
    walker.run("sessionStorage.clear()")
