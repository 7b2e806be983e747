"""What the front end has asked for, and what that caused."""


def test_a_request_and_its_cause_have_one_identity(space, guest, spacex):
    guest.get("/v1/ships", headers={"X-Request-Id": "app-1"})
    [front] = space.requests(request_id="app-1")
    asked = spacex.requests(request_id="app-1")
    assert front.path == "/v1/ships" and front.status == 200
    assert asked and {request.cause for request in asked} == {front.sequence}


def test_filters_choose(space, guest):
    guest.get("/v1/ships?limit=2")
    guest.get("/v1/ships/unknown")
    assert space.count(path="/v1/ships", method="GET") == 2
    assert space.count(query="limit=2") == 1 and space.count(status=404) == 1
    assert space.count(method="DELETE") == 0


def test_waiting_since_a_number_ignores_what_was_before(space, guest):
    guest.get("/v1/ships")
    last = space.requests()[-1].sequence
    soon = guest.begin("GET", "/v1/ships?limit=1")
    [seen] = space.wait(1, since=last)
    assert seen.path == "/v1/ships?limit=1" and soon.result().status == 200


def test_tokens_are_no_part_of_the_journal(space, guest):
    guest.get("/v1/ships")
    assert all(guest.token not in str(request.raw) for request in space.requests())


def test_bodies_of_requests_to_upstreams_are_shown(space):
    user = space.session("disk", mode="oauth_token", access_token="sandbox-token")
    assert user.post("/v1/disk/folders", {"path": "disk:/New"}).status in (200, 201)
    [made] = space.upstream("yandex_disk").requests(method="PUT", path="/yandex_disk/resources")
    assert "New" in made.path and "sandbox-token" not in str(made.raw)


def test_probes_say_so(space, guest, spacex):
    space.clock.freeze()
    guest.get("/v1/ships")
    spacex.offline()
    guest.get("/v1/ships?refresh=1")
    space.clock.advance(61)
    assert "probe" in {request.cause for request in spacex.requests()}


def test_both_journals_are_emptied(space, guest, spacex):
    guest.get("/v1/ships")
    space.forget()
    assert space.count() == 0 and spacex.count() == 0
