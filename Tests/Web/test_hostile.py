"""Data that nobody designs for: long words, other directions, signs of several code points, markup, nothing at all."""
from urllib.parse import quote

import axe
import layout
import pytest
import things
from playwright.sync_api import expect
from screens import settle

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
RIGHT_TO_LEFT = "سفينة الشحن الكبيرة שלום עולם"
SIGNS = "👩‍👩‍👧‍👦🐕‍🦺" * 30
MARKUP = "<img src=x onerror=alert(1)> &amp; <b>é́́́</b>"
NAMES = [LONG, RIGHT_TO_LEFT, SIGNS, MARKUP]


@pytest.fixture
def paths(visitor, larder):
    """Fills the apps; the addresses of what has these names."""
    visitor.log_in("ships", "notes", "disk")
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    for product, name in enumerate(NAMES, start=1):
        larder.control("PUT", f"/catalogue/products/{product}", {"title": name, "price": 10 ** (2 * product)})
        visitor.send("POST", "/v1/shop/list/items", {"product_id": product, "quantity": 999})
    ships = [ship["id"] for ship in visitor.send("GET", "/v1/ships").json()["data"]["items"][:4]]
    for ship, name in zip(ships, NAMES):
        larder.control("PUT", f"/spacex/ships/{ship}", {"name": name, "home_port": name, "roles": [name, LONG]})
    visitor.send("GET", "/v1/ships?refresh=1")
    notes = [things.note(visitor, f"{name}\n{name * 20}", (name[:100], 10 * number, 10 * number))
             for number, name in enumerate(NAMES, start=1)]
    documents = [things.document(larder, 1) for _ in NAMES]
    for document, name in zip(documents, NAMES):
        short = name.encode()[:240].decode(errors="ignore").replace("/", "-")
        larder.call("PATCH", f"/v1/pdf/documents/{document}", {"name": short})
    for name in [LONG, RIGHT_TO_LEFT, SIGNS[:40]]:
        larder.control("PUT", "/yandex_disk/files", {"path": f"disk:/Odd/{name}.txt", "text": f"{LONG}\n{name}"})
    return ["/shop?q=", "/shop/1", "/shop/list", "/pdf", f"/pdf/{documents[0]}", "/ships", f"/ships/{ships[0]}",
            "/notes", f"/notes/{notes[0]}", f"/notes/{notes[0]}?edit=1", "/notes/map", "/disk/files?path=disk%3A%2FOdd",
            "/disk/file?path=" + quote(f"disk:/Odd/{LONG}.txt", safe="")]


@pytest.mark.parametrize("width, percents", [(390, [100, 200]), (1280, [100])])
def test_web_31_hostile_data_does_not_make_a_page_wider(visit, visitor, larder, paths, width, percents):
    person = visit(larder, width=width, storage_state=visitor.context.storage_state())
    for path in paths:
        page = person.open(path)
        settle(page)
        for percent in percents:
            layout.enlarge_text(page, percent)
            assert layout.wider(page) == [], (path, percent)
        page.close()


def test_web_29_hostile_data_is_text_and_has_no_violations(visit, visitor, larder, paths):
    person = visit(larder, width=390, storage_state=visitor.context.storage_state())
    for path in ["/ships", "/notes", "/shop/list"]:
        page = person.open(path)
        settle(page)
        expect(page.get_by_text("<img src=x onerror=alert(1)>").first).to_be_attached()
        axe.check(page)
        page.close()
