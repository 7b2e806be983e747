"""Faults of some requests."""
from larder_testing.http import send


def test_one_path_fails_while_the_others_work(space, guest, spacex):
    spacex.rule("error(500)", path="/v4/ships")
    assert guest.get("/v1/upstreams/spacex/v4/ships").status == 500
    assert guest.get("/v1/upstreams/spacex/v4/nothing").status == 404


def test_two_failures_then_none_is_left(guest, spacex):
    rule = spacex.rule("error(500)", path="/v4/ships", times=2)
    statuses = [guest.get("/v1/upstreams/spacex/v4/ships").status for _ in range(3)]
    assert statuses == [500, 500, 200] and rule.left == 0 and rule.applied == 2


def test_faults_come_in_turn(guest, spacex):
    spacex.rule(faults=["error(500)", "error(429)", "online"], path="/v4/ships")
    no_copy = {"Cache-Control": "no-store"}
    statuses = [guest.get("/v1/upstreams/spacex/v4/ships", headers=no_copy).status for _ in range(3)]
    assert statuses == [500, 429, 200]


def test_the_third_request_is_the_one(guest, spacex):
    spacex.rule("error(500)", path="/v4/ships", after=2, times=1)
    no_copy = {"Cache-Control": "no-store"}
    statuses = [guest.get("/v1/upstreams/spacex/v4/ships", headers=no_copy).status for _ in range(4)]
    assert statuses == [200, 200, 500, 200]


def test_query_and_fields_decide(space, catalogue):
    catalogue.rule("error(500)", query={"limit": "7"}, header={"x-asked-by": True})
    statuses = [
        send(space.sandbox_url, "GET", "/catalogue/products", query={"limit": limit}, headers=fields).status
        for limit, fields in [(7, {"X-Asked-By": "a test"}), (8, {"X-Asked-By": "a test"}), (7, {})]
    ]
    assert statuses == [500, 200, 200]


def test_a_removed_rule_has_no_effect(guest, spacex):
    rule = spacex.rule("error(500)")
    rule.remove()
    assert spacex.rules() == [] and guest.get("/v1/ships").status == 200
