"""The trash of Notes and of PDF, and the archive of one's own data."""
import io
import re
import zipfile

import things
from axe import check
from playwright.sync_api import expect


def row(page, name):
    return page.get_by_role("listitem").filter(has_text=name)


def delete(page, title):
    page.get_by_role("button", name=title).click()
    page.get_by_role("alertdialog").get_by_role("button", name=re.compile("^Delete")).click()


def test_srv_18_a_deleted_note_is_taken_back_or_restored_from_the_trash_or_gone(visitor):
    visitor.log_in("notes")
    note = things.note(visitor, "A heron")
    page = visitor.open(f"/notes/{note}")
    delete(page, "Delete note")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("h1")).to_have_text("A heron")
    delete(page, "Delete note")
    expect(page.get_by_text("No Notes Yet")).to_be_visible()
    page.get_by_role("link", name="Trash").click()
    row(page, "A heron").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    assert visitor.send("GET", f"/v1/notes/{note}").json()["data"]["body"] == "A heron"

    visitor.send("DELETE", f"/v1/notes/{note}")
    page = visitor.open("/notes/trash")
    expect(page.get_by_text(re.compile(r"^Stored: 1(\.\d)? KB of 2\.1 GB$"))).to_be_visible()
    check(page)
    page.get_by_role("button", name="Empty the trash").click()
    page.get_by_role("alertdialog").get_by_role("button", name=re.compile("Empty|Delete")).click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    assert visitor.send("GET", "/v1/notes").json()["data"]["items"] == []


def test_srv_18_the_archive_is_downloaded_from_the_trash(visitor):
    visitor.log_in("notes")
    things.note(visitor, "A heron")
    page = visitor.open("/notes/trash")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download my data").click()
    with zipfile.ZipFile(io.BytesIO(open(download.value.path(), "rb").read())) as archive:
        assert archive.testzip() is None
        assert any("A heron" in archive.read(name).decode("utf-8", "replace") for name in archive.namelist())
