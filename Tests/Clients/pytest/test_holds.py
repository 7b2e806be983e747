"""Requests that wait until the test lets them go."""


def test_eight_clients_wait_for_one_request(space, guest, spacex):
    spacex.hold()
    clients = [guest.begin("GET", "/v1/ships") for _ in range(8)]
    assert len(space.wait(8, path="/v1/ships", waiting=True)) == 8
    spacex.wait(1)
    assert spacex.waiting == 1
    spacex.release()
    assert {client.result().status for client in clients} == {200}
    assert spacex.count(path="/spacex/v4/ships") == 1


def test_one_of_three_is_released(space, spacex, guest):
    spacex.hold()
    paths = [f"/v1/upstreams/spacex/v4/ships?n={n}" for n in range(3)]
    clients = [guest.begin("GET", path) for path in paths]
    spacex.wait(3)
    assert spacex.release(1) == 1 and spacex.waiting == 2
    assert spacex.release() == 2
    assert {client.result().status for client in clients} == {200}


def test_a_held_request_meets_the_fault_of_then(space, catalogue):
    catalogue.hold()
    client = space.begin("GET", "/v1/shop/search")
    catalogue.wait(1)
    catalogue.fault("error(500)")
    catalogue.release()
    assert client.result().status >= 500


def test_what_waits_is_seen_at_both_ends(space, guest, spacex):
    spacex.hold()
    client = guest.begin("GET", "/v1/ships", headers={"X-Request-Id": "app-7"})
    [asked] = spacex.wait(1, request_id="app-7")
    [front] = space.requests(request_id="app-7")
    assert front.waiting and front.status is None and asked.cause == front.sequence
    spacex.release()
    assert client.result().status == 200
    assert not space.requests(request_id="app-7")[0].waiting
