"""Uploads to the Disk, and a large file there and back."""
import hashlib, re
from urllib.parse import quote

import memory
import pytest
import things
from larder import PATIENCE_MS
from memory import MIB
from playwright.sync_api import expect

FOLDER = "disk:/New"
NAMES = ["Один.bin", "two #2.bin", "three.bin"]
# What the page and its scripts have fetched.
FETCHED = "performance.getEntriesByType('resource').map(one => one.name)"


@pytest.fixture
def page(visitor, larder):
    visitor.log_in("disk")
    larder.control("PUT", "/yandex_disk/folders", {"path": FOLDER})
    page = visitor.open(f"/disk/files?path={quote(FOLDER, safe='')}")
    page.get_by_role("button", name="Upload").wait_for()
    return page


def choose(page, *files):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload").click()
    chooser.value.set_files(list(files))


def entry(page, name):
    return page.locator(".tray-item", has_text=name)


def stored(visitor, name):
    return visitor.send("GET", f"/v1/disk/file/content?path={quote(f'{FOLDER}/{name}', safe='')}").body()


def content(number):
    return bytes([number]) * (300 * 1024 + number)


class Held:
    """Holds uploads in the browser until they are let go; how long a server would wait plays no part."""

    def __init__(self, page):
        self.routes = []
        page.route("**/v1/disk/file/content?*", self.take)

    def take(self, route):
        if self.routes is None:
            route.continue_()
        else:
            self.routes.append(route)

    def release(self):
        routes, self.routes = self.routes, None
        for route in routes:
            route.continue_()


# Keeps what the entries of the tray said.
LISTEN = """() => {
    window.said = new Set();
    const look = () => document.querySelectorAll('.tray-said').forEach(one => window.said.add(one.textContent));
    new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def test_web_17_uploads_tell_their_bytes_and_one_of_them_is_cancelled(page, visitor):
    held = Held(page)
    page.evaluate(LISTEN)
    choose(page, *[things.file(name, content(number), "application/octet-stream")
                   for number, name in enumerate(NAMES)])
    for name in NAMES[:2]:
        expect(entry(page, name)).to_contain_text("0 B of 300 KB")
        expect(entry(page, name).get_by_role("progressbar", name=name)).to_be_visible()
    expect(entry(page, NAMES[2])).to_contain_text("Waiting")
    tray = page.get_by_role("region", name="Uploads")
    expect(tray.get_by_role("status")).to_have_text("3 to go")
    page.get_by_role("button", name=f"Cancel {NAMES[1]}").click()
    expect(entry(page, NAMES[1])).to_contain_text("Cancelled")
    expect(entry(page, NAMES[2])).to_contain_text("0 B of 300 KB")
    held.release()
    for name in [NAMES[0], NAMES[2]]:
        expect(entry(page, name)).to_contain_text("Uploaded")
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    entry(page, NAMES[1]).get_by_role("button", name="Try again").click()
    expect(tray.get_by_role("status")).to_have_text("All are uploaded")
    for number, name in enumerate(NAMES):
        assert stored(visitor, name) == content(number)
    assert "Passing on to Yandex Disk…" in page.evaluate("[...window.said]")
    tray.get_by_role("button", name="Close the list").click()
    expect(tray).to_have_count(0)


def test_web_31_the_tray_of_uploads_covers_no_row_for_good(visit, larder):
    visitor = visit(larder, width=390, height=844)
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    page.locator(".rows > li").first.wait_for()
    choose(page, *[things.file(name, b"bytes", "text/plain") for name in NAMES])
    expect(page.get_by_role("region", name="Uploads").get_by_role("status")).to_have_text("All are uploaded")
    page.locator(".rows > li .row-end button").last.click()
    expect(page.get_by_role("menu")).to_be_visible()


@pytest.mark.parametrize("broken, mended", [
    (lambda larder: larder.control("PUT", "/yandex_disk/quota", {"total_space": 1}),
     lambda larder: larder.control("PUT", "/yandex_disk/quota", {"total_space": 1 << 40})),
    (lambda larder: larder.fault("yandex_disk", "offline"), lambda larder: larder.fault("yandex_disk", "online")),
    (lambda larder: larder.fault("yandex_disk", "error(500)"), lambda larder: larder.fault("yandex_disk", "online")),
], ids=["full", "offline", "error"])
def test_web_17_an_upload_that_fails_says_why_and_is_sent_again(page, visitor, larder, broken, mended):
    broken(larder)
    choose(page, things.file(NAMES[0], content(1), "application/octet-stream"))
    failed = page.locator(".tray-item[data-state=failed]")
    expect(failed.locator(".tray-said")).to_have_text(re.compile(r"\w{3}"))
    expect(page.get_by_role("link", name=NAMES[0], exact=True)).to_have_count(0)
    mended(larder)
    # An upstream that was away is probed before it is asked again.
    things.wait_for_upstream(page, "yandex_disk")
    for _ in range(20):
        entry(page, NAMES[0]).get_by_role("button", name="Try again").click()
        expect(page.locator(".tray-item[data-state=sending]")).to_have_count(0)
        if failed.count() == 0:
            break
    expect(entry(page, NAMES[0])).to_contain_text("Uploaded")
    assert stored(visitor, NAMES[0]) == content(1)


def test_web_17_a_name_that_is_taken_is_asked_about(page, visitor, larder):
    larder.control("PUT", "/yandex_disk/files", {"path": f"{FOLDER}/{NAMES[0]}", "text": "the old one"})
    choose(page, things.file(NAMES[0], b"the new one", "application/octet-stream"))
    expect(entry(page, NAMES[0])).to_contain_text("There is a file of this name")
    assert stored(visitor, NAMES[0]) == b"the old one"
    entry(page, NAMES[0]).get_by_role("button", name="Replace").click()
    expect(entry(page, NAMES[0])).to_contain_text("Uploaded")
    assert stored(visitor, NAMES[0]) == b"the new one"


def test_web_17_uploads_go_on_while_other_screens_are_open_and_are_not_left_unasked(page, visitor):
    held = Held(page)
    choose(page, things.file(NAMES[0], content(1), "application/octet-stream"))
    page.get_by_role("navigation", name="Apps").get_by_role("link", name="Shop").click()
    expect(page.locator("h1")).to_have_text("Shop")
    expect(entry(page, NAMES[0]).get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Close the list").click()
    page.get_by_role("alertdialog", name="Stop the uploads?").get_by_role("button", name="Go on").click()
    with page.expect_event("dialog") as question:
        page.close(run_before_unload=True)
    assert question.value.type == "beforeunload"
    question.value.dismiss()
    held.release()
    expect(entry(page, NAMES[0])).to_contain_text("Uploaded")
    assert stored(visitor, NAMES[0]) == content(1)


def test_web_08_a_large_file_goes_up_and_comes_down_without_being_in_memory(page, browser, large, figures):
    with memory.growth(browser) as up:
        choose(page, str(large))
        expect(entry(page, large.name)).to_contain_text("Uploaded", timeout=PATIENCE_MS * 10)
    page.goto(f"/disk/file?path={quote(f'{FOLDER}/{large.name}', safe='')}")
    link = page.locator("a[download]").first
    link.wait_for()
    with memory.growth(browser) as down:
        with page.expect_download() as download:
            link.click()
        received = download.value.path()
    assert download.value.suggested_filename == large.name
    assert digest(received) == digest(large)
    # The browser itself fetched it, no script.
    assert page.evaluate(f"{FETCHED}.filter(name => name.includes('/content'))") == []
    size = large.stat().st_size
    figures(f"a file of {size // MIB} MiB: the browser grows by {up['bytes'] // MIB} MiB while it goes up, "
            f"by {down['bytes'] // MIB} MiB while it comes down")
    assert up["bytes"] < size / 2 and down["bytes"] < size / 2


@pytest.fixture
def large(request, tmp_path):
    """A file of mostly zeros; `script/test-web --large` makes it one of 2 GB."""
    path = tmp_path / "Фильм + 1.bin"
    size = 2048 if request.config.getoption("--large") else 192
    with open(path, "wb") as file:
        file.truncate(size * MIB)
        for place in range(0, size, 5):
            file.seek(place * MIB)
            file.write(f"part {place}".encode())
    yield path
    path.unlink()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
