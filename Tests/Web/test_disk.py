"""The Disk app."""
import re
from urllib.parse import quote

import pytest
import things
from playwright.sync_api import expect
from touch import Fingers, middle

NAMES = ["Отчёты за год", "a + b", "50 % # & ?", "🐕 dogs", "Plain"]


@pytest.fixture
def anna(visitor):
    visitor.log_in("disk")
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    return visitor


def folder(path):
    return "/disk/files?path=" + quote(path, safe="")


def row(page, name):
    return page.locator(".rows > li", has=page.get_by_role("link", name=name, exact=True))


def act(page, name, action):
    row(page, name).get_by_role("button", name=f"Actions for {name}").click()
    page.get_by_role("menuitem", name=action, exact=True).click()


def test_web_15_onboarding_is_seen_once_then_the_login_then_the_files(visitor):
    page = visitor.open("/disk")
    for name in ["Next"] * 3:
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("button", name="LOG IN", exact=True)).to_be_visible()
    page.get_by_role("button", name="Log in as anna").click()
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
    expect(page.locator(".rows > li").first).to_be_visible()
    page.goto("/disk")
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
    page.goto("/disk/profile")
    page.get_by_role("button", name="Log Out").click()
    page.get_by_role("alertdialog").get_by_role("button", name="No").click()
    expect(page.get_by_role("heading", name="Profile")).to_be_visible()
    page.get_by_role("button", name="Log Out").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("All local data will be deleted.")
    page.get_by_role("alertdialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_role("button", name="LOG IN", exact=True)).to_be_visible()
    page.goto("/disk")
    expect(page.get_by_role("button", name="LOG IN", exact=True)).to_be_visible()


def test_web_36_home_leads_to_the_disk_as_anna_by_one_press(visitor):
    page = visitor.open("/")
    page.get_by_role("button", name="Open the Disk as Anna").click()
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
    expect(page.locator(".rows > li").first).to_be_visible()


def test_web_36_who_is_logged_in_is_not_asked_again_after_the_onboarding(visitor):
    visitor.log_in("disk")
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": False})
    page = visitor.open("/disk")
    for name in ["Next"] * 3:
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()


def test_web_15_the_pages_of_the_onboarding_are_turned_by_arrows_dots_and_fingers(visit, larder):
    page = visit(larder, width=390, height=844).open("/disk/onboarding")
    dots = page.locator(".dots button")
    expect(dots).to_have_count(3)
    # The pictures of the other pages do not arrive: a page keeps its size without them.
    page.route("**/v1/disk/onboarding/*/image", lambda route: None)
    x, y = middle(page.locator(".onboarding"))
    fingers = Fingers(page)
    left, right = (x - 90, y), (x + 90, y)
    for turn, at in [(lambda: page.keyboard.press("ArrowRight"), 1), (lambda: fingers.drag(right, left), 2),
                     (lambda: page.keyboard.press("ArrowLeft"), 1), (lambda: dots.nth(0).click(), 0),
                     (lambda: fingers.drag(left, right), 0)]:
        turn()
        expect(dots.nth(at)).to_have_attribute("aria-current", "step")


def test_web_15_a_token_that_is_refused_is_said_at_the_form(visitor):
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    page = visitor.open("/disk/login")
    page.get_by_label("Access token of Yandex Disk").fill("wrong")
    page.get_by_role("button", name="LOG IN", exact=True).click()
    expect(page.locator(".form-problem, .field-error").filter(has_text=re.compile(r"\w")).first).to_be_visible()
    expect(page.locator(".field-error")).to_have_text("This token is not accepted.")
    expect(page.get_by_label("Access token of Yandex Disk")).to_have_value("wrong")


@pytest.mark.parametrize("name", NAMES)
def test_web_16_folders_of_any_name_open_by_click_by_address_and_after_reload(anna, larder, name):
    larder.control("PUT", "/yandex_disk/files", {"path": f"disk:/Odd/{name}/deep #1?/leaf.txt", "text": "leaf"})
    page = anna.open(folder("disk:/Odd"))
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("link", name="deep #1?", exact=True).click()
    for again in [lambda: None, page.reload, lambda: page.goto(folder(f"disk:/Odd/{name}/deep #1?"))]:
        again()
        expect(page.locator("h1")).to_have_text("deep #1?")
        expect(page.get_by_role("link", name="leaf.txt", exact=True)).to_be_visible()
        expect(page.locator(".crumbs li")).to_have_text(["Disk", "Odd", name, "deep #1?"])
    page.locator(".crumbs").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("h1")).to_have_text(name)
    page.go_back()
    expect(page.locator("h1")).to_have_text("deep #1?")
    page = anna.open(folder(f"disk:/Odd/{name}"))
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.locator("h1")).to_have_text("Odd")
    page.locator(".crumbs").get_by_role("link", name="Disk", exact=True).click()
    expect(page.locator("h1")).to_have_text("Disk")
    expect(page.get_by_role("link", name="Back", exact=True)).to_have_count(0)


def test_web_17_files_are_uploaded_by_picker_and_by_drop(anna, larder):
    larder.control("PUT", "/yandex_disk/folders", {"path": "disk:/New"})
    page = anna.open(folder("disk:/New"))
    page.get_by_role("button", name="Upload").wait_for()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload").click()
    chooser.value.set_files([things.file("Привет #1.txt", "text".encode(), "text/plain")])
    expect(row(page, "Привет #1.txt")).to_be_visible()
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.items.add(new File(['dropped'], 'dropped.txt', {type: 'text/plain'}));
        const target = document.querySelector('.page-body');
        for (const type of ['dragover', 'drop']) {
            target.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
        }
    }""")
    expect(row(page, "dropped.txt")).to_be_visible()


def test_web_17_a_rename_keeps_the_extension_and_a_deletion_asks(anna, larder):
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/old name.txt", "text": "text"})
    page = anna.open("/disk/file?path=" + quote("disk:/New/old name.txt", safe=""))
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Rename").click()
    expect(page.get_by_role("textbox", name="Name")).to_have_value("old name")
    page.get_by_role("textbox", name="Name").fill("new + name")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.locator("h1")).to_have_text("new + name.txt")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("h1")).to_have_text("new + name.txt")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").locator(".dialog-actions button").last.click()
    expect(page).to_have_url(re.compile("/disk/files"))
    expect(page.get_by_role("link", name="new + name.txt")).to_have_count(0)


def test_web_17_a_row_of_a_list_is_renamed(anna, larder):
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/old.txt", "text": "text"})
    larder.control("PUT", "/yandex_disk/folders", {"path": "disk:/New/Old.d"})
    page = anna.open(folder("disk:/New"))
    for name, stem, typed, renamed in [("old.txt", "old", "new", "new.txt"), ("Old.d", "Old.d", "New.d", "New.d")]:
        act(page, name, "Rename")
        field = page.get_by_role("textbox", name="Name")
        expect(field).to_have_value(stem)
        field.fill(typed)
        page.get_by_role("dialog").get_by_role("button", name="Rename").click()
        expect(row(page, renamed)).to_be_visible()
        expect(row(page, name)).to_have_count(0)


def test_web_17_offline_a_write_says_so_and_changes_nothing(anna, larder):
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/stays.txt", "text": "text"})
    page = anna.open(folder("disk:/New"))
    row(page, "stays.txt").wait_for()
    larder.fault("yandex_disk", "offline")
    page.get_by_role("button", name="New folder").click()
    page.get_by_role("textbox", name="Name").fill("Refused")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog").locator(".form-problem")).to_contain_text(re.compile(r"\w{3}"))
    expect(page.get_by_role("textbox", name="Name")).to_have_value("Refused")
    page.keyboard.press("Escape")
    expect(row(page, "stays.txt")).to_be_visible()
    expect(page.locator(".chip[data-kind=offline]")).to_be_visible()
    larder.fault("yandex_disk", "online")
    expect(page.locator(".chip[data-kind=offline]")).to_have_count(0)
    expect(row(page, "Refused")).to_have_count(0)


def test_web_17_a_search_offline_says_that_it_saw_only_a_part_of_the_files(anna, larder):
    larder.fault("yandex_disk", "offline")
    page = anna.open("/disk/search?q=zebra")
    expect(page.locator(".state h2")).to_have_text("Nothing was found among the files that were seen so far")
    page.get_by_role("button", name="Try again").click()
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/zebra.txt", "text": "z"})
    larder.fault("yandex_disk", "online")
    things.wait_for_upstream(page, "yandex_disk")
    expect(page.get_by_role("link", name="zebra.txt", exact=True)).to_be_visible()


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_web_18_a_file_begins_in_the_upper_quarter_of_a_phone_below_one_row_of_buttons(visit, larder, locale):
    phone = visit(larder, width=390, height=844, locale=locale)
    phone.log_in("disk")
    page = phone.open("/disk/files")
    page.get_by_role("link", name="Горы.jpg", exact=True).click()
    page.locator(".viewer img").wait_for()
    assert page.locator(".viewer").bounding_box()["y"] < 844 / 4
    pager, last = page.locator(".file-steps").bounding_box(), page.locator(".page-actions > button").last.bounding_box()
    assert abs(pager["y"] - last["y"]) < 1 and pager["x"] + pager["width"] <= last["x"]


def test_web_18_each_kind_of_file_has_its_viewer(anna, larder):
    items = anna.send("GET", "/v1/disk/recent?limit=100").json()["data"]["items"]
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/note.txt", "text": "Прочти меня"})
    shown = {"image": ".viewer-image", "pdf": ".sheet-page"}
    for kind, selector in shown.items():
        ending = {"image": r"\.(jpe?g|png)$", "pdf": r"\.pdf$"}[kind]
        item = next(one for one in items if re.search(ending, one["name"]))
        page = anna.open("/disk/file?path=" + quote(item["path"], safe=""))
        picture = page.locator(selector).first
        picture.wait_for()
        page.wait_for_function("selector => document.querySelector(selector)?.naturalWidth > 0", arg=selector)
        page.close()
    page = anna.open("/disk/file?path=" + quote("disk:/New/note.txt", safe=""))
    expect(page.get_by_text("Прочти меня")).to_be_visible()


def test_web_08_a_download_has_the_name_and_the_bytes_of_the_file(anna, larder):
    text = "годовой отчёт " * 1000
    path = "disk:/New/Отчёт за год #1.txt"
    larder.control("PUT", "/yandex_disk/files", {"path": path, "text": text})
    page = anna.open("/disk/file?path=" + quote(path, safe=""))
    with page.expect_download() as download:
        page.locator("a[download]").first.click()
    assert download.value.suggested_filename == "Отчёт за год #1.txt"
    with open(download.value.path(), encoding="utf-8") as file:
        assert file.read() == text


def test_web_17_a_file_is_fetched_into_larder_and_its_progress_ends_with_done(anna, larder):
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/fetched.bin", "text": "bytes " * 100_000})
    page = anna.open("/disk/file?path=" + quote("disk:/New/fetched.bin", safe=""))
    state = page.locator(".file-page aside")
    expect(state).to_contain_text("Only online")
    larder.fault("yandex_disk", "hold")
    page.get_by_role("button", name="Download to Larder").click()
    expect(state.get_by_role("progressbar", name="fetched.bin")).to_be_visible()
    larder.fault("yandex_disk", "online")
    larder.control("POST", "/upstreams/yandex_disk/release")
    expect(state).to_contain_text("Available offline, until space is needed")
    expect(state.get_by_role("progressbar")).to_have_count(0)


def test_web_17_what_is_published_is_copied_and_unpublished_in_the_words_of_the_server(anna, larder):
    anna.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = anna.open("/disk/published")
    name = "IMG_08.JPG"
    address = next(one["public_url"] for one in anna.send("GET", "/v1/disk/published").json()["data"]["items"]
                   if one["name"] == name)
    act(page, name, "Copy the link")
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == address
    larder.fault("yandex_disk", "offline")
    act(page, name, "Unpublish file")
    sheet = page.get_by_role("alertdialog", name=re.compile(re.escape(name) + "|Unpublish file"))
    expect(sheet).to_contain_text(name)
    sheet.get_by_role("button", name="Unpublish file").click()
    refused = page.get_by_role("alertdialog").filter(has_text=re.compile("Yandex Disk"))
    refused.wait_for()
    page.keyboard.press("Escape")
    expect(row(page, name)).to_be_visible()
    larder.fault("yandex_disk", "online")
    things.wait_for_upstream(page, "yandex_disk")
    act(page, name, "Unpublish file")
    sheet.get_by_role("button", name="Cancel").click()
    expect(row(page, name)).to_be_visible()
    act(page, name, "Unpublish file")
    sheet.get_by_role("button", name="Unpublish file").click()
    # The words of a problem, if there is one.
    expect(page.get_by_role("alertdialog")).to_have_text([])
    expect(row(page, name)).to_have_count(0)


def test_web_17_a_file_is_published_and_its_link_copied(anna, larder):
    anna.context.grant_permissions(["clipboard-read", "clipboard-write"])
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/shown.txt", "text": "text"})
    page = anna.open("/disk/file?path=" + quote("disk:/New/shown.txt", safe=""))
    page.get_by_role("button", name="Share link").click()
    page.get_by_role("dialog").get_by_role("button", name="Create the link").click()
    link = page.get_by_role("dialog").get_by_label("Share link")
    address = link.input_value()
    assert address.startswith("https://")
    page.get_by_role("dialog").get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == address
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    expect(page.get_by_role("link", name=address)).to_be_visible()


OFFICE = "disk:/Документы/Смета.xlsx"


def office(visitor, available):
    """The page of an office file, as with or without LibreOffice, whichever this machine has."""
    def convert(route):
        response = route.fetch()
        sent = response.json()
        address = sent["data"]["document"]["pdf_url"]
        sent["data"]["page_url"] = address.replace("/pdf?", "/page?") if available else None
        sent["data"]["document"] = {"pdf_url": address, "available": available,
                                    "reason": None if available else "LibreOffice is not installed."}
        route.fulfill(response=response, json=sent)

    page = visitor.context.new_page()
    page.route("**/v1/disk/file?*", convert)
    page.route("**/v1/disk/file/page?*", lambda route: route.fulfill(
        body=things.photo(), content_type="image/png") if "page=1&" in route.request.url else route.fulfill(status=404))
    page.goto("/disk/file?path=" + quote(OFFICE, safe=""))
    return page


def test_web_18_an_office_file_says_what_it_needs_where_it_cannot_be_shown(anna):
    page = office(anna, available=False)
    expect(page.locator(".viewer")).to_contain_text("LibreOffice is not installed.")
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    expect(page.get_by_role("link", name="Open PDF")).to_have_count(0)


def test_web_18_an_office_file_has_pages_and_a_pdf_where_it_can_be_shown(anna):
    page = office(anna, available=True)
    expect(page.get_by_role("img", name="Page 1")).to_be_visible()
    expect(page.get_by_role("link", name="Open PDF")).to_have_attribute("href", re.compile("^/v1/disk/file/pdf\\?"))


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_web_31_the_order_of_a_list_is_not_cut_off_on_a_phone(visit, larder, locale):
    visitor = visit(larder, width=390, locale=locale)
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    cut = page.locator(".toolbar select").evaluate_all("""lists => lists.map(list => {
        const style = getComputedStyle(list);
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = style.font;
        const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return [room - Math.max(...[...list.options].map(one => pen.measureText(one.text).width)),
            parseFloat(style.paddingRight)];
    })""")
    # The arrow is in the padding.
    assert cut and min(room for room, _ in cut) >= 0 and min(padding for _, padding in cut) >= 16, cut
    rows = page.locator(".toolbar > *:visible").evaluate_all("all => all.map(one => Math.round(one.offsetTop / 20))")
    assert len(set(rows)) == 2, rows


@pytest.mark.settings(disk_oauth_client_id="sandbox-client")
def test_web_15_the_login_of_yandex_is_offered_where_it_is_configured(visitor, larder):
    larder.stop()
    larder.settings["disk-oauth-redirect-uri"] = f"{larder.url}/disk/login"
    larder.start()
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    larder.control("PUT", "/yandex_oauth/consent", {"consent": "deny"})
    page = visitor.open("/disk/login")
    page.get_by_role("button", name="Log in with Yandex").click()
    expect(page.get_by_role("alert").filter(has_text="Yandex did not allow it.")).to_be_visible()
    larder.control("PUT", "/yandex_oauth/consent", {"consent": "allow", "account": "anna"})
    page.get_by_role("button", name="Log in with Yandex").click()
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
    expect(page.locator(".rows > li").first).to_be_visible()


def test_web_15_the_login_of_yandex_is_not_offered_where_it_is_not_configured(visitor):
    page = visitor.open("/disk/login")
    # Both are drawn by the same answer.
    page.get_by_role("button", name="Log in as anna").wait_for()
    expect(page.get_by_role("button", name="Log in with Yandex")).to_have_count(0)
    # The account of the sandbox is the one main way in.
    expect(page.locator(".login .primary")).to_have_text(["Log in as anna"])


@pytest.mark.settings(disk_oauth_client_id="sandbox-client")
def test_web_36_a_code_that_yandex_shows_has_a_field(visitor, larder):
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    larder.control("PUT", "/yandex_oauth/consent", {"consent": "allow", "account": "anna"})
    page = visitor.open("/disk/login")
    expect(page.get_by_label("Code from Yandex")).to_be_hidden()
    page.get_by_role("button", name="Log in with Yandex").click()
    page.wait_for_url(re.compile("/verification_code"))
    code = re.search(r"code=(\w+)", page.url)[1]
    page.go_back()
    field = page.get_by_label("Code from Yandex")
    expect(field).to_be_visible()
    page.get_by_role("button", name="Log in with the code").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill(f" {code} ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Recent")).to_be_visible()
