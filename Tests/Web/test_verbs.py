"""The everyday verbs of the Disk: download, upload of folders, undo, order, pictures instead of rows."""
import re
from urllib.parse import quote

import pytest
import things
from playwright.sync_api import expect

TREE = ["one.txt", "inner/two.txt", "inner/deep/three.txt"]
# A folder as it is dropped: entries that are read in two goes.
DROP = """() => {
    const file = name => ({isFile: true, name, file: done => done(new File([name], name, {type: 'text/plain'}))});
    const folder = (name, ...inside) => ({isDirectory: true, name, createReader: () => {
        const left = [inside.slice(0, 1), inside.slice(1), []];
        return {readEntries: done => done(left.shift())};
    }});
    const deep = folder('deep', file('three.txt'));
    const tree = folder('Dropped', file('one.txt'), folder('inner', file('two.txt'), deep));
    const event = new DragEvent('drop', {bubbles: true, cancelable: true});
    Object.defineProperty(event, 'dataTransfer', {value: {types: ['Files'], files: [], items: [
        {webkitGetAsEntry: () => tree}, {webkitGetAsEntry: () => file('beside.txt')}]}});
    document.querySelector('.page-body').dispatchEvent(event);
}"""


@pytest.fixture
def anna(visitor, larder):
    visitor.log_in("disk")
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    for path, text in {"b.txt": "bb", "a.txt": "a", "c.txt": "c" * 3000, "sub/x.txt": "x"}.items():
        larder.control("PUT", "/yandex_disk/files", {"path": f"disk:/Work/{path}", "text": text})
    return visitor


def work(visitor, path="disk:/Work"):
    page = visitor.open("/disk/files?path=" + quote(path, safe=""))
    page.locator(".rows > li").first.wait_for()
    return page


def rows(page):
    return page.locator(".rows > li:visible .row-link")


def row(page, name):
    return page.locator(".rows > li", has=page.get_by_role("link", name=name, exact=True))


def stored(visitor, path):
    return visitor.send("GET", f"/v1/disk/file/content?path={quote(path, safe='')}").text()


def test_web_41_a_file_is_downloaded_from_its_row_and_several_from_the_selection(anna):
    page = work(anna)
    with page.expect_download() as download:
        row(page, "a.txt").get_by_role("link", name="Download: a.txt").click()
    assert download.value.suggested_filename == "a.txt"
    got = []
    page.on("download", lambda one: got.append(one.suggested_filename))
    page.get_by_role("button", name="Select").click()
    page.get_by_role("checkbox", name="Select a.txt").click()
    page.get_by_role("checkbox", name="Select c.txt").click(modifiers=["Shift"])
    expect(page.locator(".selection [role=status]")).to_have_text("3 selected")
    with page.expect_event("download", lambda one: one.suggested_filename == "c.txt"):
        page.locator(".selection").get_by_role("button", name="Download").click()
    assert sorted(got) == ["a.txt", "b.txt", "c.txt"]


def test_web_41_the_menu_of_a_phone_has_the_download(visit, larder):
    phone = visit(larder, width=390, height=844)
    phone.log_in("disk")
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/Work/a.txt", "text": "a"})
    page = work(phone)
    page.get_by_role("button", name="Actions for a.txt").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download").click()
    assert download.value.suggested_filename == "a.txt"


def test_web_41_a_dropped_folder_is_uploaded_with_all_that_is_in_it(anna):
    page = work(anna)
    page.evaluate(DROP)
    expect(row(page, "Dropped")).to_be_visible()
    expect(row(page, "beside.txt")).to_be_visible()
    expect(page.locator(".tray-item[data-state=done]")).to_have_count(4)
    for path in TREE:
        assert stored(anna, f"disk:/Work/Dropped/{path}") == path.split("/")[-1]


def test_web_41_a_folder_is_chosen_and_uploaded(anna, tmp_path):
    for path in TREE:
        file = tmp_path / "Chosen" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    page = work(anna)
    # A file takes one press, a folder is behind the arrow.
    with page.expect_file_chooser():
        page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="More actions").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("menuitem", name="Upload a folder").click()
    chooser.value.set_files(tmp_path / "Chosen")
    expect(page.locator(".tray-item[data-state=done]")).to_have_count(3)
    for path in TREE:
        assert stored(anna, f"disk:/Work/Chosen/{path}") == path


def test_web_41_what_was_deleted_comes_back(anna):
    page = work(anna)
    page.get_by_role("button", name="Select").click()
    for name in ["a.txt", "sub"]:
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.locator(".selection").get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="To the trash").click()
    expect(rows(page)).to_have_text(["b.txt", "c.txt"])
    page.get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_text(["a.txt", "b.txt", "c.txt", "sub"])
    assert stored(anna, "disk:/Work/sub/x.txt") == "x"


def test_web_41_all_of_many_that_were_deleted_come_back(visit, larder, anna):
    count = 24
    for number in range(count):
        larder.control("PUT", "/yandex_disk/files", {"path": f"disk:/Many/{number}.txt", "text": "x"})
    # In a window so high nothing scrolls: all rows load by themselves.
    visitor = visit(larder, width=1280, height=3000)
    visitor.log_in("disk")
    page = visitor.open("/disk/files?path=" + quote("disk:/Many", safe=""))
    expect(rows(page)).to_have_count(count)
    page.get_by_role("button", name="Select").click()
    page.get_by_role("checkbox", name="Select 0.txt").check()
    page.locator(".selection").get_by_role("button", name="All").click()
    page.locator(".selection").get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="To the trash").click()
    expect(rows(page)).to_have_count(0)
    # The way back stays while the pointer is on it. Meanwhile one of them is deleted for good.
    page.get_by_role("button", name="Undo").hover()
    trash = visitor.send("GET", "/v1/disk/trash?limit=100&refresh=1").json()["data"]["items"]
    purge = next(action for one in trash if one["origin"] == "disk:/Many/7.txt" for action in one["actions"]
                 if action["id"] == "purge")
    visitor.send(purge["method"], purge["href"])
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Not restored: 1")).to_be_visible()
    expect(rows(page)).to_have_count(count - 1)


def test_web_41_what_was_moved_goes_back_by_a_key(anna, larder):
    larder.control("PUT", "/yandex_disk/folders", {"path": "disk:/Work/Away"})
    page = work(anna)
    page.get_by_role("button", name="Actions for a.txt").click()
    page.get_by_role("menuitem", name="Move", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Work", exact=True).click()
    dialog.get_by_role("button", name="Away", exact=True).click()
    dialog.get_by_role("button", name="Move here").click()
    expect(row(page, "a.txt")).to_have_count(0)
    page.get_by_role("button", name="Undo").wait_for()
    page.locator("h1").focus()
    page.keyboard.press("u")
    expect(row(page, "a.txt")).to_be_visible()


def test_web_41_columns_sort_and_the_order_stays_in_other_folders(anna):
    page = work(anna)
    expect(rows(page)).to_have_text(["a.txt", "b.txt", "c.txt", "sub"])
    size = page.locator(".file-columns").get_by_role("button", name=re.compile("Size"))
    size.click()
    expect(size).to_have_attribute("aria-pressed", "true")
    files = page.locator(".rows > li .row-link", has_text=".txt")
    expect(files).to_have_text(["c.txt", "b.txt", "a.txt"])
    size.click()
    expect(files).to_have_text(["a.txt", "b.txt", "c.txt"])
    page.get_by_role("link", name="sub", exact=True).click()
    expect(page.locator("h1")).to_have_text("sub")
    expect(size).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(files).to_have_text(["a.txt", "b.txt", "c.txt"])


def test_web_41_a_phone_sorts_by_its_list(visit, larder, anna):
    phone = visit(larder, width=390, height=844)
    phone.log_in("disk")
    page = work(phone)
    expect(page.locator(".file-columns")).to_be_hidden()
    page.get_by_label("Order").select_option(label="Largest first")
    expect(page.locator(".rows > li .row-link", has_text=".txt")).to_have_text(["c.txt", "b.txt", "a.txt"])
    # The orders of the columns, which other windows have, are those of the list too.
    for value in ["-name", "modified", "size"]:
        page.evaluate("value => sessionStorage.setItem('larder.disk.sort', value)", value)
        page.goto("/disk/files?path=" + quote("disk:/Work/sub", safe=""))
        expect(page.get_by_label("Order")).to_have_value(value)


def test_web_41_rows_become_pictures_and_stay_so(anna):
    anna.send("PUT", "/v1/disk/file/content?path=" + quote("disk:/Work/photo.png", safe=""), things.photo(),
              **{"Content-Type": "image/png"})
    page = work(anna)
    page.get_by_role("button", name="Show as pictures").click()
    grid = page.locator(".gallery-view")
    expect(grid).to_be_visible()
    picture = grid.locator("li", has_text="photo.png").locator("img.seen")
    picture.wait_for()
    assert picture.bounding_box()["width"] > 100
    page.reload()
    expect(grid).to_be_visible()
    page.get_by_role("button", name="Show as a list").click()
    expect(grid).to_have_count(0)
    expect(rows(page)).to_have_text(["a.txt", "b.txt", "c.txt", "photo.png", "sub"])


@pytest.mark.parametrize("name, text", [("notes.md", "# Title"), ("table.csv", "a;b"), ("data.json", "{}"),
                                        ("run.log", "started")])
def test_web_41_files_of_text_are_shown_whatever_they_are_called(anna, larder, name, text):
    larder.control("PUT", "/yandex_disk/files", {"path": f"disk:/Work/{name}", "text": text})
    page = anna.open("/disk/file?path=" + quote(f"disk:/Work/{name}", safe=""))
    expect(page.locator(".text-file")).to_have_text(text)


def test_web_41_a_file_is_kept_offline_by_one_switch(anna):
    page = anna.open("/disk/file?path=" + quote("disk:/Work/a.txt", safe=""))
    keep = page.get_by_role("switch", name="Keep offline")
    keep.check()
    expect(page.get_by_text("Available offline, always")).to_be_visible()
    expect(keep).to_be_checked()
    with page.expect_response(lambda answer: answer.request.method == "DELETE" and "/offline" in answer.url):
        keep.uncheck()
    expect(keep).not_to_be_checked()
    kept = anna.send("GET", "/v1/disk/offline").json()["data"]["items"]
    assert kept == []
    # It shows how it is, not how it was to be.
    page.route("**/v1/disk/offline*", lambda route: route.abort("connectionrefused"), times=1)
    keep.click()
    page.get_by_role("alertdialog").get_by_role("button", name="OK", exact=True).click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    expect(keep).not_to_be_checked()
