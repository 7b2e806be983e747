"""APIs of a test's own, and the world that a mark describes."""
import json

import pytest

NO_COPY = {"Cache-Control": "no-store"}


def test_a_stub_by_hand_is_mounted_and_answers_with_the_request(space):
    rule = {"match": {"route": "POST /orders/{id}", "body": {"kind": "x"}},
            "respond": {"status": 201, "json": {"id": "{{path.1}}", "quantity": "{{body/quantity}}"}}}
    shop = space.stub("my_shop", rules=[rule])
    made = space.post("/v1/upstreams/my_shop/orders/7", {"kind": "x", "quantity": 2})
    assert made.status == 201 and made.json == {"id": "7", "quantity": 2}
    assert space.post("/v1/upstreams/my_shop/orders/7", {"kind": "y"}).status == 404
    shop.rule(respond={"text": "{{count}}"}, path="/count", times=2)
    counts = [space.get("/v1/upstreams/my_shop/count", headers=NO_COPY) for _ in range(3)]
    assert [one.text for one in counts[:2]] == ["1", "2"] and counts[2].status == 404
    shop.remove()
    assert space.get("/v1/upstreams/my_shop/count", headers=NO_COPY).status == 404


def test_a_real_upstream_answers_by_hand(guest, spacex):
    spacex.rule(respond={"status": 200, "json": []}, path="/v4/ships")
    assert guest.get("/v1/ships?refresh=1").status == 200
    assert spacex.requests()[-1].raw["rule"] == 1


def test_mappings_of_wiremock_and_har_files(space, tmp_path):
    mapping = {"request": {"urlPath": "/a"}, "response": {"jsonBody": {"a": 1}, "fixedDelayMilliseconds": 5}}
    other = {"name": "states", "request": {"url": "/b"}, "response": {}, "scenarioName": "s"}
    (tmp_path / "all.json").write_text(json.dumps({"mappings": [mapping, other]}))
    shop = space.stub("of_wiremock", wiremock=str(tmp_path / "all.json"))
    assert space.get("/v1/upstreams/of_wiremock/a").json == {"a": 1}
    assert [one["member"] for one in shop.unmapped] == ["scenarioName"]
    answer = {"status": 200, "headers": [], "content": {"mimeType": "text/plain", "text": "hi", "size": 2}}
    entry = {"request": {"method": "GET", "url": "https://a.example/v1/x"}, "response": answer}
    space.stub("of_har", har={"log": {"entries": [entry]}})
    assert space.get("/v1/upstreams/of_har/v1/x").text == "hi"


@pytest.mark.larder(now="2030-01-05T10:00:00Z", frozen=True, faults={"spacex": ["slow(1)", "error(500)"]})
def test_a_mark_says_what_the_world_is(guest, space, larder_url):
    assert space.clock.now.startswith("2030-01-05T10:00:00") and space.clock.frozen
    assert guest.get("/v1/ships?refresh=1").meta["stale"] and larder_url == space.url


@pytest.mark.larder(front="error(503)", document={"list": [{"product_id": 53, "quantity": 2}]})
def test_a_mark_sets_faults_of_larder_and_data(space):
    assert space.get("/v1/shop/list").status == 503
    space.front_fault("online")
    assert space.get("/v1/shop/list").data["totals"]["items"] == 2


@pytest.mark.larder(condition="401")
def test_a_condition_outlasts_a_reset(server, space):
    space.reset()
    guest = space.session("ships", mode="guest")
    assert guest.get("/v1/ships").code == "session-expired"


@pytest.mark.larder(condition="offline")
def test_a_condition_is_one_of_a_test_s_own_api(space):
    space.stub("own", rules=[{"respond": {"text": "x"}}])
    assert space.get("/v1/upstreams/own/a", headers=NO_COPY).status >= 500
