"""Sessions that a browser carries as cookies, and what is left after they end."""
import json
import re
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import things
from playwright.sync_api import expect
from screens import settle

LOGIN = {"Larder-Session": "cookie"}


@pytest.fixture
def neighbour():
    """Another server of this machine, whose pages are of another origin."""
    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Neighbour</title><h1>Neighbour</h1>")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def log_in_as_guest(page):
    page.get_by_role("button", name="Continue as Guest").click()
    page.get_by_role("link", name="A Gentle Landing, Mostly").wait_for()


def test_web_05_the_cookie_is_for_the_server_alone(visitor, larder):
    page = visitor.open("/ships/login")
    log_in_as_guest(page)
    cookies = visitor.context.cookies()
    assert [(one["httpOnly"], one["sameSite"], one["path"]) for one in cookies] == [(True, "Strict", "/v1")]
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])").count(cookies[0]["value"]) == 0
    # Its token opens nothing in another field.
    request = urllib.request.Request(f"{larder.url}/v1/ships")
    request.add_header("Authorization", f"Bearer {cookies[0]['value']}")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 401


def test_web_05_a_page_of_another_port_writes_nothing(visitor, larder, neighbour):
    visitor.log_in("ships")
    href = visitor.send("GET", "/v1/ships").json()["data"]["items"][0]["href"]
    page = visitor.open(neighbour)
    answers = page.evaluate("""async ([url, href]) => {
        const ask = (path, options) => fetch(url + path, {credentials: 'include', ...options})
            .then(answer => answer.status, error => error.name);
        return [await ask(href, {method: 'DELETE'}), await ask('/v1/ships/restore', {method: 'POST', mode: 'no-cors',
            headers: {'Content-Type': 'text/plain'}, body: '{}'}), await ask('/v1/ships')];
    }""", [larder.url, href])
    # Without the fields of CORS, the page sees nothing either.
    assert answers[0] == answers[2] == "TypeError"
    assert visitor.take_faults(page)
    assert visitor.send("GET", "/v1/ships").json()["data"]["hidden_count"] == 0
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in visitor.context.cookies())
    request = urllib.request.Request(f"{larder.url}{href}", method="DELETE",
                                     headers={"Origin": neighbour, "Cookie": cookies})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 403
    assert visitor.send("GET", "/v1/ships").json()["data"]["hidden_count"] == 0


def test_web_06_nothing_of_an_account_is_left_for_the_next_one(visitor, larder):
    visitor.log_in("notes")
    note = things.note(visitor, "A secret of Anna")
    page = visitor.open("/notes")
    page.get_by_text("A secret of Anna").first.wait_for()
    page.goto(f"/notes/{note}")
    page.get_by_text("A secret of Anna").first.wait_for()
    page.goto("/notes/people")
    page.get_by_role("button", name="Account and files").click()
    page.get_by_role("menuitem", name=re.compile("log ?out", re.I)).click()
    confirm = page.get_by_role("alertdialog")
    login = page.get_by_label("Password")
    login.or_(confirm.get_by_role("button").last).first.wait_for()
    if confirm.is_visible():
        confirm.get_by_role("button", name=re.compile("log ?out|yes", re.I)).click()
    login.wait_for()
    addresses = [lambda: page.goto(f"/notes/{note}"), lambda: page.goto("/notes")]
    for again in [page.go_back, page.go_back, page.reload, *addresses]:
        again()
        login.wait_for()
        expect(page.get_by_text("A secret of Anna")).to_have_count(0)
    visitor.log_in(notes={"mode": "register", "username": "boris", "password": "another horse"})
    for path in ["/notes", f"/notes/{note}", "/notes/map"]:
        page.goto(path)
        page.locator("h1").wait_for()
        settle(page)
        expect(page.get_by_text("A secret of Anna")).to_have_count(0)


def test_web_06_pictures_of_an_account_do_not_come_from_the_browser(visitor, larder):
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    href = next(row["preview_url"] for row in visitor.send("GET", "/v1/disk/recent").json()["data"]["items"]
                if row.get("preview_url"))
    shown = """href => new Promise(done => {
        const image = new Image();
        image.onload = () => done(true);
        image.onerror = () => done(false);
        image.src = href;
    })"""
    assert page.evaluate(shown, href) is True
    page.evaluate("void fetch('/v1/disk/session?confirm=true', {method: 'DELETE'})")
    page.wait_for_url("**/disk/login?*")
    assert page.evaluate(shown, href) is False
    visitor.log_in(disk={"mode": "oauth_token", "access_token": "sandbox-token-2"})
    page.goto("/shop")
    assert page.evaluate(shown, href) is False


def test_web_14_the_stream_follows_the_session(visit, larder):
    """A page hears of changes of the account that is logged in, and no more of the former one."""
    here, there = visit(larder), visit(larder)
    for visitor in [here, there]:
        visitor.log_in("notes") if visitor is here else visitor.log_in(
            notes={"mode": "login", "username": "anna", "password": "correct horse"})
    page = here.open("/notes")
    page.get_by_text("No Notes Yet").wait_for()
    things.note(there, "Written elsewhere")
    page.get_by_text("Written elsewhere").first.wait_for()
    page.goto("/notes/people")
    page.get_by_role("button", name="Account and files").wait_for()
    here.send("DELETE", "/v1/notes/session")
    page.get_by_label("Password").wait_for()
    page.get_by_role("button", name=re.compile("sign up|register|create", re.I)).or_(
        page.get_by_role("link", name=re.compile("sign up|register|create", re.I))).first.click()
    page.get_by_label("User name").or_(page.get_by_label("Name")).first.fill("boris")
    page.get_by_label("Password").first.fill("another horse")
    page.get_by_role("button", name="Sign Up").first.click()
    # Back where the session ended.
    page.get_by_role("button", name="Account and files").wait_for()
    page.goto("/notes")
    page.get_by_text("No Notes Yet").wait_for()
    heard = "() => performance.getEntriesByType('resource').filter(one => one.name.includes('/v1/notes')).length"
    before = page.evaluate(heard)
    things.note(there, "Not for Boris")
    visitor = here
    visitor.send("POST", "/v1/notes", {"body": "For Boris"})
    page.get_by_text("For Boris", exact=True).first.wait_for()
    expect(page.get_by_text("Not for Boris")).to_have_count(0)
    assert page.evaluate(heard) > before
