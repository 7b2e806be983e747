"""The trash of Notes and of PDF, and the archive of one's own data, also over HTTPS and HTTP/2."""
import io
import re
import zipfile

import authority
import pytest
import things
from axe import check
from playwright.sync_api import expect


@pytest.fixture(params=["http", "https"])
def larder(request, start):
    """A server; the browser trusts its certificate."""
    return start(**(request.getfixturevalue("secure")[0] if request.param == "https" else {}))


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


def test_srv_18_a_document_is_restored_from_the_trash_or_gone(visitor, larder):
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    things.document(larder)
    page = visitor.open("/pdf")
    page.locator(".rows > li").get_by_role("button").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name=re.compile("^Delete")).click()
    page.get_by_role("link", name="Trash").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    item, = visitor.send("GET", "/v1/pdf/documents").json()["data"]["items"]
    visitor.send("DELETE", f"/v1/pdf/documents/{item['id']}")
    page.reload()
    row(page, item["name"]).get_by_role("button", name=re.compile("for good|Delete")).click()
    page.get_by_role("alertdialog").get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()


def test_srv_18_what_does_not_fit_into_the_quota_is_said_and_stays_typed(visit, start, secure):
    larder = start(**secure[0], notes_quota_mb=1)
    visitor = visit(larder)
    visitor.log_in("notes")
    first = [things.note(visitor, "heron " * 10_800) for _ in range(15)][0]
    page = visitor.open("/notes/new")
    page.get_by_label("Text").fill("crane " * 10_000)
    page.get_by_role("button", name="Save").click()
    problem = page.get_by_role("alertdialog")
    expect(problem).to_contain_text("This account may store 1 MB here")
    problem.get_by_role("button").last.click()
    expect(page.get_by_label("Text")).to_have_value("crane " * 10_000)
    visitor.send("DELETE", f"/v1/notes/{first}")
    visitor.send("DELETE", f"/v1/notes/trash/{first}")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_contain_text("crane")
    bin = visitor.open("/notes/trash")
    expect(bin.get_by_text(re.compile(r"^Stored: \d{3} KB of 1(\.\d)? MB$"))).to_be_visible()


def test_srv_14_a_page_is_a_secure_context_and_its_cookies_are_secure(visit, start, secure, tmp_path):
    larder = start(**secure[0])
    visitor = visit(larder)
    visitor.log_in("notes")
    page = visitor.open("/notes")
    assert page.evaluate("isSecureContext && performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
    assert all(cookie["secure"] and cookie["httpOnly"] for cookie in visitor.context.cookies())
    # The same server with a certificate of another authority.
    foreign = start(**authority.make(larder.executable, tmp_path / "other"))
    with pytest.raises(Exception, match="ERR_CERT_AUTHORITY_INVALID"):
        visitor.context.new_page().goto(foreign.url)
