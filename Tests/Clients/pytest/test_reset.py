"""One call, and everything is as at the start."""


def test_nothing_is_left(space, guest, spacex):
    space.post("/v1/shop/list/items", {"product_id": 53, "quantity": 2})
    guest.get("/v1/ships")
    spacex.offline()
    guest.get("/v1/ships?refresh=1")
    space.clock.freeze("2030-01-05T10:00:00Z")
    space.reset()
    assert guest.get("/v1/ships").status == 401
    assert space.get("/v1/shop/list").data["items"] == []
    assert all(row["reachable"] for row in space.get("/v1/status").data["upstreams"])
    assert spacex.count() == 0 and space.clock.frozen is False
    assert "uri-miss" in space.session("ships", mode="guest").get("/v1/ships").cache


def test_a_held_request_ends_with_503(space, guest, spacex):
    spacex.hold()
    held = guest.begin("GET", "/v1/ships")
    spacex.wait(1)
    space.reset()
    assert held.result().status == 503


def test_the_sandbox_alone_forgets_its_data(space, guest, spacex):
    ship = guest.get("/v1/ships").data["items"][0]["id"]
    space.control("DELETE", f"/_sandbox/spacex/ships/{ship}")
    assert ship not in [one["id"] for one in guest.get("/v1/ships?refresh=1").data["items"] if one["upstream_present"]]
    space.control("POST", "/_sandbox/reset")
    assert ship in [one["id"] for one in guest.get("/v1/ships?refresh=1").data["items"] if one["upstream_present"]]
