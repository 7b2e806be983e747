"""The outbox of the Disk: writes that wait while Yandex Disk is away."""
import re
from urllib.parse import quote

import axe, layout
import pytest
import things
from playwright.sync_api import expect

WORK = "disk:/Work"
FILES = ["old.txt", "moved.txt", "gone.txt", "shown.txt"]
NARROW = [320, 390, 768, 1280]


@pytest.fixture
def work(larder):
    """Makes the person's visitor, with a folder that was seen."""
    def work(visitor):
        visitor.log_in("disk")
        visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
        for name in FILES:
            larder.control("PUT", "/yandex_disk/files", {"path": f"{WORK}/{name}", "text": f"text of {name}"})
        larder.control("PUT", "/yandex_disk/folders", {"path": f"{WORK}/Archive"})
        for path in ["disk:/", WORK, f"{WORK}/Archive"]:
            visitor.send("GET", "/v1/disk/files?path=" + quote(path))
        visitor.send("GET", "/v1/disk/profile")
        return visitor
    return work


@pytest.fixture
def anna(visitor, work):
    return work(visitor)


def leave(visitor, method, path, body=None, **fields):
    """A write of the person's other device that waits."""
    answer = visitor.send(method, path, body, Prefer="respond-async", **fields)
    assert answer.status == 202, answer.text()
    return answer.json()["data"]


def leave_file(visitor, name, content=b"ours", path=WORK):
    address = "/v1/disk/file/content?path=" + quote(f"{path}/{name}")
    return leave(visitor, "PUT", address, content, **{"Content-Type": "text/plain"})


def waiting(visitor):
    return [(one["kind"], one["state"]) for one in visitor.send("GET", "/v1/disk/outbox").json()["data"]["items"]]


def open_work(visitor):
    page = visitor.open("/disk/files?path=" + quote(WORK, safe=""))
    page.locator(".rows > li").first.wait_for()
    return page


def row(page, name):
    return page.locator(".rows > li", has=page.get_by_text(name, exact=True))


def act(page, name, action):
    row(page, name).get_by_role("button", name=f"Actions for {name}").click()
    page.get_by_role("menuitem", name=action, exact=True).click()


def send_later(page):
    """Presses "Send later" in the dialog of a refusal."""
    refused = page.get_by_role("alertdialog").filter(has_text="offline-write-refused")
    refused.get_by_role("button", name="Send later").click()
    expect(page.locator(".toast")).to_contain_text("outbox")


WORDS = {
    "en-GB": ["New folder", "Name", "Create", "Send later", "1 change waits", "New folder: Waiting for Yandex Disk",
              "Outbox", "Take back: Papers", "No changes are waiting for Yandex Disk"],
    "ru-RU": ["Новая папка", "Имя", "Создать", "Отправить позже", "1 изменение ждёт",
              "Новая папка: Ожидает Яндекс Диска", "Исходящие", "Отменить: Papers",
              "Нет изменений, ожидающих отправки на Яндекс Диск"],
}


@pytest.mark.parametrize("locale", WORDS)
def test_out_01_04_web_17_a_write_waits_once_its_author_chose_so_and_is_taken_back(visit, larder, work, locale):
    folder, name, create, later, chip, state, outbox, take_back, nothing = WORDS[locale]
    visitor = work(visit(larder, locale=locale))
    page = open_work(visitor)
    larder.fault("yandex_disk", "offline")
    page.get_by_role("button", name=folder).click()
    page.get_by_role("textbox", name=name).fill("Papers")
    page.get_by_role("dialog").get_by_role("button", name=create).click()
    choice = page.get_by_role("dialog").get_by_role("alert").get_by_role("button", name=later)
    choice.wait_for()
    # Until then nothing waits, and nothing that was typed is lost.
    assert waiting(visitor) == []
    expect(page.get_by_role("textbox", name=name)).to_have_value("Papers")
    choice.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row(page, "Papers")).to_contain_text(state)
    page.get_by_role("link", name=chip).click()
    expect(page.locator("h1")).to_have_text(outbox)
    expect(row(page, "Papers")).to_contain_text(state.split(": ")[1])
    page.get_by_role("button", name=take_back).click()
    expect(page.locator(".state")).to_contain_text(nothing)
    page.go_back()
    expect(row(page, "old.txt")).to_be_visible()
    expect(row(page, "Papers")).to_have_count(0)
    expect(page.get_by_role("link", name=chip)).to_have_count(0)
    assert larder.control("GET", "/journal?method=PUT&path=/v1/disk/resources")["entries"] == []


def test_out_03_05_every_write_is_left_by_clicks_and_sent_without_a_reload(anna, larder):
    page = open_work(anna)
    things.wait_for_stream(page)
    larder.fault("yandex_disk", "offline")
    act(page, "moved.txt", "Move")
    page.get_by_role("dialog").get_by_role("button", name="Work", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Move here").click()
    send_later(page)
    expect(row(page, "moved.txt")).to_have_count(0)
    act(page, "gone.txt", "Delete")
    page.get_by_role("alertdialog").locator(".dialog-actions button").last.click()
    send_later(page)
    expect(row(page, "gone.txt")).to_have_count(0)
    act(page, "shown.txt", "Share link")
    page.get_by_role("dialog").get_by_role("button", name="Create the link").click()
    send_later(page)
    expect(row(page, "shown.txt").locator(".waits")).to_contain_text("Share link: Waiting for Yandex Disk")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload").click()
    chooser.value.set_files([things.file(name, name.encode(), "text/plain") for name in ["one.txt", "two.txt"]])
    tray = page.get_by_role("region", name="Uploads")
    expect(tray.locator("[data-state=failed]")).to_have_count(2)
    tray.get_by_role("button", name="Send all later").click()
    expect(tray.locator("[data-state=kept]")).to_have_count(2)
    tray.get_by_role("button", name="Close the list").click()
    row(page, "old.txt").locator(".row-link").click()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("new")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").get_by_role("button", name="Send later").click()
    expect(page.locator("h1")).to_have_text("new.txt")
    expect(page.locator(".facts")).to_contain_text("Rename: Waiting for Yandex Disk")
    page.get_by_role("link", name="6 changes wait").wait_for()
    assert [kind for kind, _ in waiting(anna)] == ["move", "delete", "publish", "upload", "upload", "rename"]
    page.go_back()
    expect(page.locator(".waits")).to_have_count(4)
    marked = page.evaluate("window.marked = true")
    larder.fault("yandex_disk", "online")
    expect(page.locator(".waits")).to_have_count(0)
    expect(page.locator("a[href='/disk/outbox']")).to_have_count(0)
    for name in ["Archive", "new.txt", "one.txt", "shown.txt", "two.txt"]:
        expect(row(page, name)).to_be_visible()
    assert page.evaluate("window.marked") is marked
    there = anna.send("GET", "/v1/disk/files?refresh=1&path=" + quote(WORK)).json()["data"]["items"]
    assert {one["name"]: one["published"] for one in there} == {
        "Archive": False, "new.txt": False, "one.txt": False, "shown.txt": True, "two.txt": False}


def test_out_01_web_17_the_end_of_a_publication_is_left_by_a_click_and_sent(anna, larder):
    page = anna.open("/disk/published")
    things.wait_for_stream(page)
    name = "IMG_08.JPG"
    larder.fault("yandex_disk", "offline")
    act(page, name, "Unpublish file")
    page.get_by_role("alertdialog").get_by_role("button", name="Unpublish file").click()
    send_later(page)
    expect(row(page, name)).to_have_count(0)
    page.get_by_role("link", name="1 change waits").wait_for()
    assert waiting(anna) == [("unpublish", "queued")]
    larder.fault("yandex_disk", "online")
    expect(page.locator("a[href='/disk/outbox']")).to_have_count(0)
    there = anna.send("GET", "/v1/disk/published?refresh=1&limit=100").json()["data"]["items"]
    assert there and name not in [one["name"] for one in there]


def test_web_17_who_sends_one_of_several_later_sends_all_of_them_later(anna, larder):
    page = open_work(anna)
    larder.fault("yandex_disk", "offline")
    page.get_by_role("button", name="Select", exact=True).click()
    for name in FILES[:3]:
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.locator(".selection").get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="To the trash").click()
    send_later(page)
    expect(page.get_by_role("link", name="3 changes wait")).to_be_visible()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert waiting(anna) == [("delete", "queued")] * 3


CHOICES = {"Keep both": (None, {"n.txt": "theirs", "n (2).txt": "ours"}), "Overwrite": ("Overwrite", {"n.txt": "ours"}),
           "Discard": ("Delete", {"n.txt": "theirs"})}


@pytest.mark.parametrize("choice", CHOICES)
def test_out_06_a_conflict_shows_both_sides_and_each_choice_does_what_it_says(anna, larder, choice):
    sure, contents = CHOICES[choice]
    page = anna.open("/disk/outbox")
    things.wait_for_stream(page)
    larder.fault("yandex_disk", "offline")
    leave_file(anna, "n.txt")
    row(page, "n.txt").wait_for()
    larder.control("PUT", "/yandex_disk/files", {"path": f"{WORK}/n.txt", "text": "theirs"})
    larder.fault("yandex_disk", "online")
    sides = page.locator(".sides dd")
    expect(sides).to_have_count(3)
    expect(sides.nth(0)).to_have_text("Nothing")
    expect(sides.nth(1)).to_contain_text("A file")
    expect(row(page, "n.txt")).to_contain_text("Needs a decision")
    axe.check(page)
    page.get_by_role("button", name=f"{choice}: n.txt").click()
    if sure:
        page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name=f"{choice}: n.txt").click()
        page.get_by_role("alertdialog").get_by_role("button", name=sure, exact=True).click()
    expect(page.locator(".state")).to_contain_text("No changes are waiting")
    for name, text in contents.items():
        address = "/v1/disk/file/content?refresh=1&path=" + quote(f"{WORK}/{name}")
        assert anna.send("GET", address).text() == text


def test_out_08_web_28_what_is_tried_again_says_when_and_why_and_what_is_refused_can_be(anna, larder):
    page = anna.open("/disk/outbox")
    things.wait_for_stream(page)
    larder.fault("yandex_disk", "offline")
    leave(anna, "POST", "/v1/disk/folders", {"path": f"{WORK}/Papers"})
    row(page, "Papers").wait_for()
    rules = "/upstreams/yandex_disk/rules"
    larder.control("POST", rules, {"match": {"method": "PUT"}, "fault": "error(423)"})
    larder.fault("yandex_disk", "online")
    until = row(page, "Papers").locator("[data-until]")
    expect(until).to_have_text(re.compile(r"Next attempt in \d+ seconds?"))
    expect(row(page, "Papers")).to_contain_text("Trying again later")
    first = until.inner_text()
    page.wait_for_function("first => document.querySelector('[data-until]')?.textContent !== first", arg=first)
    larder.control("DELETE", rules)
    larder.control("POST", rules, {"match": {"method": "PUT"}, "fault": "error(403)"})
    expect(row(page, "Papers").locator(".tag.danger")).to_have_text("Refused")
    expect(row(page, "Papers")).to_contain_text("Yandex Disk does not allow this")
    # DISK-41: every screen says so, and leads here.
    page.goto(page.url.replace("/disk/outbox", "/disk/files"))
    page.locator(".banner").get_by_role("link", name="Changes that need your decision: 1").click()
    larder.control("DELETE", rules)
    page.get_by_role("button", name="Try again: Papers").click()
    expect(page.locator(".state")).to_contain_text("No changes are waiting")
    expect(page.locator(".banner")).to_have_count(0)


def test_out_09_the_question_before_a_logout_names_what_would_be_lost(anna, larder):
    larder.fault("yandex_disk", "offline")
    leave(anna, "POST", "/v1/disk/folders", {"path": f"{WORK}/Papers"})
    page = anna.open("/disk/profile")
    page.get_by_role("link", name="Outbox: 1").wait_for()
    page.get_by_role("button", name="Log Out").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("will be lost: 1")
    page.get_by_role("alertdialog").get_by_role("button", name="No").click()
    assert len(waiting(anna)) == 1


@pytest.mark.parametrize("width, scheme, locale", [(390, "dark", "ru-RU"), (1280, "light", "en-GB")])
def test_web_29_30_31_the_outbox_and_what_waits(visit, larder, work, width, scheme, locale):
    visitor = work(visit(larder, width=width, scheme=scheme, locale=locale))
    page = visitor.open("/disk/outbox")
    things.wait_for_stream(page)
    page.locator(".state").wait_for()
    wrong = look(page, "empty")
    larder.fault("yandex_disk", "offline")
    long = "a rather long name, as people give them to their files, of a report.txt"
    leave_file(visitor, long)
    leave(visitor, "PATCH", "/v1/disk/file?path=" + quote(f"{WORK}/old.txt"), {"name": "new.txt"})
    leave(visitor, "POST", "/v1/disk/files/move", {"from": f"{WORK}/moved.txt", "to": f"{WORK}/Archive/moved.txt"})
    leave(visitor, "DELETE", "/v1/disk/file?path=" + quote(f"{WORK}/gone.txt"))
    expect(page.locator(".rows > li")).to_have_count(4)
    wrong += look(page, "content")
    files = open_work(visitor)
    files.locator(".waits").first.wait_for()
    wrong += look(files, "rows")
    files.close()
    for name in [long, "old.txt"]:
        larder.control("PUT", "/yandex_disk/files", {"path": f"{WORK}/{name}", "text": "theirs"})
    larder.fault("yandex_disk", "online")
    expect(page.locator(".sides")).to_have_count(2)
    expect(page.locator(".rows > li")).to_have_count(2)
    wrong += look(page, "conflict")
    assert not wrong, "\n".join(wrong)
    # By keyboard: a question that is not answered gives the focus back.
    last = page.locator(".rows button").last
    last.focus()
    page.keyboard.press("Enter")
    page.get_by_role("alertdialog").wait_for()
    page.keyboard.press("Escape")
    expect(last).to_be_focused()


def look(page, state):
    """Faults of a state in every width."""
    wrong = list(axe.violations(page))
    size = page.viewport_size
    for width in NARROW:
        page.set_viewport_size({"width": width, "height": 800})
        wrong += [f"{width} px: {one}" for one in [*layout.wider(page), *layout.smaller(page)]]
        if width == 390:
            wrong += [f"below 44: {one}" for one in layout.smaller(page, 44, layout.MAIN)]
    page.set_viewport_size(size)
    return [f"{state}: {one}" for one in wrong]
