"""Pictures edge to edge: of a product, and of the files of the Disk in the order of their list."""
from urllib.parse import quote

import pytest
import things
from playwright.sync_api import expect
from touch import Fingers, middle

NAMES = ["a.png", "b.png", "c.png"]


def box(page):
    return page.locator("dialog.lightbox")


def at(page, words):
    expect(box(page).get_by_role("status")).to_have_text(words)
    # The strip has come to rest.
    page.wait_for_function("""() => {
        const strip = document.querySelector('.slides');
        return strip.scrollLeft % strip.clientWidth === 0;
    }""")


def shown(page):
    """The rectangle of the picture in sight, and how much it is enlarged."""
    return page.evaluate("""() => {
        const middle = [...document.querySelectorAll('.slide')].find(one => {
            const {left, width} = one.getBoundingClientRect();
            return left <= innerWidth / 2 && left + width > innerWidth / 2;
        });
        const {width, height} = middle.querySelector('img').getBoundingClientRect();
        return {width, height, window: [innerWidth, innerHeight]};
    }""")


@pytest.fixture
def phone(visit, larder):
    return visit(larder, width=390, height=844)


@pytest.fixture
def photos(phone, larder):
    """A folder of pictures, opened at the first of them."""
    for number, name in enumerate(NAMES):
        body = things.photo((60 * number, 107, 76), 300, 200)
        phone.log_in("disk") if number == 0 else None
        phone.send("PUT", "/v1/disk/file/content?overwrite=1&path=" + quote(f"disk:/Photos {name}", safe=""), body,
                   **{"Content-Type": "image/png"})
    page = phone.open("/disk/files")
    page.get_by_role("link", name="Photos a.png").click()
    page.get_by_role("button", name="Picture Photos a.png, show it edge to edge").click()
    return page


def test_web_40_a_press_shows_a_product_edge_to_edge(phone):
    page = phone.open("/shop/1")
    page.locator(".gallery-strip img.seen").first.wait_for()
    page.locator(".gallery-strip").click()
    at(page, "1 of 3")
    found = shown(page)
    assert [found["width"], found["height"]] == found["window"]
    # The whole picture, not one that is as wide as the gallery.
    whole = box(page).locator("img").first
    expect(whole).to_have_attribute("src", "/v1/shop/images/1/0")
    expect(whole).to_have_js_property("naturalWidth", 400)
    page.keyboard.press("Escape")
    expect(box(page)).to_have_count(0)


def test_web_40_swipes_lead_on_and_a_swipe_down_closes(phone):
    page = phone.open("/shop/1")
    page.get_by_role("button", name="Full screen").click()
    at(page, "1 of 3")
    fingers = Fingers(page)
    fingers.drag((340, 420), (60, 420))
    at(page, "2 of 3")
    fingers.drag((60, 420), (340, 420))
    at(page, "1 of 3")
    fingers.drag((200, 300), (200, 380))
    expect(box(page)).to_be_visible()
    fingers.drag((200, 300), (200, 600))
    expect(box(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Full screen")).to_be_focused()


def test_web_40_two_fingers_enlarge_a_picture_and_one_moves_it(phone):
    page = phone.open("/shop/1")
    page.get_by_role("button", name="Full screen").click()
    at(page, "1 of 3")
    fingers = Fingers(page)
    fingers.down((180, 420), (210, 420))
    fingers.move((60, 420), (330, 420))
    fingers.up()
    page.wait_for_function("() => document.querySelector('.lightbox.zoomed')")
    large = shown(page)
    assert large["width"] > 2 * large["window"][0]
    # One finger moves the picture, not on to the next one.
    left = page.locator(".slide img").first.bounding_box()["x"]
    fingers.drag((300, 420), (150, 420))
    assert page.locator(".slide img").first.bounding_box()["x"] < left - 50
    expect(box(page).get_by_role("status")).to_have_text("1 of 3")
    fingers.down((60, 420), (330, 420))
    fingers.move((180, 420), (200, 420))
    fingers.up()
    page.wait_for_function("() => !document.querySelector('.lightbox.zoomed')")


def test_web_40_keys_and_a_double_press_do_the_same(visitor):
    page = visitor.open("/shop/1")
    page.get_by_role("button", name="Full screen").focus()
    page.keyboard.press("Enter")
    at(page, "1 of 3")
    page.keyboard.press("ArrowRight")
    at(page, "2 of 3")
    page.keyboard.press("End")
    at(page, "3 of 3")
    page.keyboard.press("+")
    page.wait_for_function("() => document.querySelector('.lightbox.zoomed')")
    page.keyboard.press("0")
    page.wait_for_function("() => !document.querySelector('.lightbox.zoomed')")
    page.mouse.dblclick(600, 400)
    page.wait_for_function("() => document.querySelector('.lightbox.zoomed')")
    page.keyboard.press("Escape")
    expect(box(page)).to_have_count(0)
    # The page shows the one that was seen last.
    expect(page.locator(".gallery-count")).to_have_text("3/3")


def test_web_41_pictures_of_a_folder_follow_each_other_in_the_order_of_the_list(photos):
    # The folder has a picture of its own before them.
    page = photos
    title = box(page).locator("h2")
    expect(title).to_have_text("Photos a.png")
    for name in ["Photos b.png", "Photos c.png"]:
        page.keyboard.press("ArrowRight")
        expect(title).to_have_text(name)
    with page.expect_download() as download:
        box(page).get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "Photos c.png"
    box(page).get_by_role("button", name="Close").click()
    # Where it ended is the file that is open; back is the list.
    expect(page.locator("h1")).to_have_text("Photos c.png")
    page.get_by_role("button", name="Previous file").click()
    expect(page.locator("h1")).to_have_text("Photos b.png")
    # With Shift an arrow selects.
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_have_text("Photos c.png")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h1")).to_have_text("Photos b.png")
    page.get_by_role("link", name="Back").click()
    expect(page.locator("h1")).to_have_text("Disk")
