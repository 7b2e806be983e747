"""What every app shows while its upstream works, is silent, is gone, and is back."""
import pytest
from pictures import form, png
from screens import SCREENS

# New people are made at each request, so a list of them is kept for good.
aging = pytest.mark.parametrize("screen", [one for one in SCREENS if one.app != "notes"], ids=lambda screen: screen.app)
# The ships come with the program.
without_copy = pytest.mark.parametrize(
    "screen", [one for one in SCREENS if one.app != "ships"], ids=lambda screen: screen.app
)
apps = pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.app)


def names(response):
    return [item.get("name") or item.get("title") for item in response.data["items"]]


@apps
def test_fresh_data_is_requested_once(space, screen):
    user = screen.user(space)
    upstream = space.upstream(screen.upstream)
    space.clock.freeze()
    first = user.get(screen.path)
    before = upstream.count()
    again = user.get(screen.path)
    assert "uri-miss" in first.cache and "hit" in again.cache
    assert again.meta["stale"] is False and again.data["items"] == first.data["items"] != []
    assert upstream.count() == before


@aging
def test_old_data_is_requested_again(space, screen):
    space.clock.freeze()
    user = screen.user(space)
    user.get(screen.path)
    before = space.upstream(screen.upstream).count()
    space.clock.advance(3601)
    response = user.get(screen.path)
    assert "fwd=" in response.cache and response.meta["stale"] is False
    assert space.upstream(screen.upstream).count() > before


@aging
def test_offline_with_a_copy_shows_the_copy_and_says_so(space, screen):
    user = screen.user(space)
    fresh = user.get(screen.path)
    space.offline()
    shown = user.get(screen.refreshed)
    assert shown.status == 200 and names(shown) == names(fresh) != []
    assert shown.meta["offline"] is True and shown.meta["stale"] is True
    assert shown.meta["banner"]["code"] == "offline"


@without_copy
def test_offline_without_a_copy_is_a_problem_that_can_be_retried(space, screen):
    user = screen.user(space)
    space.offline()
    response = user.get(screen.path)
    assert response.status in (502, 503, 504) and response.json["retryable"] is True, response
    assert response.json["offline"] is True and response.json["upstream"]["name"] == screen.upstream


@aging
def test_back_online_the_probe_that_is_due_notices(space, screen):
    space.clock.freeze()
    user = screen.user(space)
    user.get(screen.path)
    space.offline()
    assert user.get(screen.refreshed).meta["offline"] is True
    space.online()
    space.clock.advance(61)
    shown = user.get(screen.refreshed)
    assert shown.meta["offline"] is False and shown.meta["stale"] is False and shown.meta["banner"] is None
    rows = {row["name"]: row for row in space.get("/v1/status").data["upstreams"]}
    assert rows[screen.upstream]["reachable"] is True


def test_people_are_kept_for_good(space):
    notes = space.session("notes", mode="register", username="anna", password="correct horse")
    people = notes.get("/v1/notes/people").data["items"]
    space.offline()
    shown = notes.get("/v1/notes/people")
    assert shown.data["items"] == people and "hit" in shown.cache


def test_pdf_needs_no_upstream(space):
    space.offline()
    made = space.request("POST", "/v1/pdf/documents", **form(png()))
    assert made.status == 201, made.text
    assert space.get(f"/v1/pdf/documents/{made.data['id']}").meta["source"] == "local"
    assert space.post(f"/v1/pdf/documents/{made.data['id']}/save", {}).status == 200
    assert [one["id"] for one in space.get("/v1/pdf/documents").data["items"]] == [made.data["id"]]
    assert all(upstream.count() == 0 for upstream in space.upstreams)


def test_local_writes_work_offline(space):
    notes = space.session("notes", mode="register", username="anna", password="correct horse")
    space.offline()
    assert notes.post("/v1/notes", {"body": "offline"}).status == 201
    assert [note["first_line"] for note in notes.get("/v1/notes").data["items"]] == ["offline"]
