"""Pictures of all apps: they appear, and where one does not come there is something else in its place."""
import json
from urllib.parse import quote

from playwright.sync_api import expect
from screens import furnish

# Screens with pictures, and how many there are at least.
SCREENS = {"ships": ("/ships", 3), "ship": ("/ships/{ship}", 1), "previews": ("/disk/recent", 1),
           "pages": ("/disk/file?path={pdf}", 1),
           "avatars": ("/notes/people", 3), "avatar": ("/notes/people/{person}", 1), "thumbnails": ("/pdf", 1),
           "leaves": ("/pdf/{document}", 1), "products": ("/shop?q=", 3), "product": ("/shop/1", 1)}
# Those out of sight are fetched as well.
FETCH = """async () => {
    for (const image of document.images) { image.loading = 'eager'; }
    for (const image of [...document.images]) await image.decode().catch(() => {});
}"""
SHOWN = "count => [...document.images].filter(image => image.naturalWidth > 0).length >= count"
BROKEN = """() => [...document.images]
    .filter(image => image.complete && image.naturalWidth === 0 && image.checkVisibility())
    .map(image => image.src)"""
NONE_BROKEN = f"() => ({BROKEN})().length === 0"
INSTEAD = ".picture-none, .state-problem"


def addresses(visitor):
    """Where the pictures are, once the apps have some."""
    furnished = furnish(visitor)
    items = visitor.send("GET", "/v1/disk/recent?limit=100").json()["data"]["items"]
    path = next(one["path"] for one in items if one["name"].lower().endswith(".pdf"))
    return [(address.format(pdf=quote(path, safe=""), **furnished), count) for address, count in SCREENS.values()]


def test_web_07_pictures_of_every_app_appear(visitor):
    for path, count in addresses(visitor):
        page = visitor.open(path)
        page.locator("main img, dialog img").first.wait_for(state="attached")
        page.evaluate(FETCH)
        page.wait_for_function(SHOWN, arg=count)
        assert page.evaluate(BROKEN) == [], path
        page.close()


def test_web_07_pictures_that_do_not_come_are_replaced(visitor):
    problem = {"type": "urn:larder:problem:upstream-unavailable", "title": "Not there", "status": 503,
               "code": "upstream-unavailable", "detail": "Not there", "retryable": True}

    def refuse(route):
        if route.request.resource_type == "image":
            route.fulfill(status=503, body=json.dumps(problem), content_type="application/problem+json")
        else:
            route.continue_()

    for path, _ in addresses(visitor):
        page = visitor.context.new_page()
        page.route("**/*", refuse)
        page.goto(path)
        expect(page.locator(INSTEAD).first).to_be_visible()
        page.evaluate(FETCH)
        page.wait_for_function(NONE_BROKEN)
        page.close()
