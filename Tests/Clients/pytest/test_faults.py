"""What a whole upstream may do wrong."""
import pytest
from larder_testing import Refused
from larder_testing.http import send


@pytest.mark.parametrize("fault", ["error(500)", "html(200)", "garbage", "truncated", "offline"])
def test_without_a_copy_every_fault_is_a_problem(space, catalogue, fault):
    catalogue.fault(fault)
    response = space.get("/v1/shop/search")
    assert response.status in (502, 503, 504) and response.json["upstream"]["name"] == "catalogue", response


@pytest.mark.parametrize("fault", ["error(500)", "html(200)", "garbage", "truncated"])
def test_with_a_copy_every_fault_shows_it(guest, spacex, fault):
    fresh = guest.get("/v1/ships").data["items"]
    spacex.fault(fault)
    shown = guest.get("/v1/ships?refresh=1")
    assert shown.status == 200 and shown.meta["stale"] is True and shown.data["items"] == fresh


def test_retry_after_is_obeyed_until_its_time(space, catalogue):
    space.clock.freeze("2030-01-05T10:00:00Z")
    catalogue.fault("error(503, 60)")
    space.get("/v1/shop/search")
    paused = {row["name"]: row["paused_until"] for row in space.get("/v1/status").data["upstreams"]}
    assert paused["catalogue"] == "2030-01-05T10:01:00Z"
    catalogue.online()
    asked = catalogue.count()
    assert space.get("/v1/shop/search").status == 503 and catalogue.count() == asked
    space.clock.advance(61)
    assert space.get("/v1/shop/search").status == 200


def test_a_slow_upstream_leaves_the_copy_on_time(guest, spacex):
    guest.get("/v1/ships")
    spacex.hold()
    shown = guest.get("/v1/ships?refresh=1")
    assert shown.status == 200 and shown.meta["stale"] is True
    assert spacex.waiting == 1


def test_the_ships_have_a_copy_from_the_start(guest, spacex):
    spacex.offline()
    shown = guest.get("/v1/ships")
    assert shown.status == 200 and shown.meta["source"] == "bundled" and shown.meta["offline"] is True


def test_flaky_is_the_same_for_the_same_seed(space, catalogue):
    def statuses():
        catalogue.fault("flaky(0.5, 7)")
        return [send(space.sandbox_url, "GET", "/catalogue/categories").status for _ in range(8)]

    first = statuses()
    assert statuses() == first and len(set(first)) == 2


def test_a_fault_can_belong_to_one_request(space, catalogue):
    search = "/v1/shop/search?refresh=1"
    faulty = space.get(search, headers={"Sandbox-Fault": "error(500)", "X-Request-Id": "faulty"})
    assert faulty.status >= 500 and space.get(search).status == 200
    assert {request.fault for request in catalogue.requests(request_id="faulty")} == {"error(500)"}


def test_a_misspelled_fault_is_refused_and_named(spacex):
    with pytest.raises(Refused, match="slow\\(milliseconds") as refusal:
        spacex.fault("slowly")
    assert refusal.value.status == 400
