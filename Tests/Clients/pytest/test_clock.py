"""Time that a test sets."""
import pytest
from larder_testing import Refused
from pictures import form, png

START = "2030-01-05T10:00:00Z"


def test_a_frozen_clock_stands_still(space):
    space.clock.freeze(START)
    created = [space.session("ships", mode="guest").data["created_at"] for _ in range(2)]
    assert created == [START, START] and space.clock.frozen


def test_freshness_ends_when_the_clock_moves(space):
    space.clock.freeze(START)
    guest = space.session("ships", mode="guest")
    guest.get("/v1/ships")
    space.clock.advance(4)
    assert "hit" in guest.get("/v1/ships").cache
    space.clock.advance(2)
    assert "fwd=stale" in guest.get("/v1/ships").cache


def test_a_draft_expires_after_a_day(space):
    space.clock.freeze(START)
    draft = f"/v1/pdf/documents/{space.request('POST', '/v1/pdf/documents', **form(png())).data['id']}"
    assert space.get(draft).status == 200
    space.clock.advance(86_401)
    assert space.get(draft).status == 404


def test_the_clock_does_not_go_back(space):
    space.clock.freeze(START)
    with pytest.raises(Refused) as refusal:
        space.clock.freeze("2029-01-05T10:00:00Z")
    assert refusal.value.status == 409


def test_tokens_of_the_disk_age_with_the_same_clock(space):
    space.clock.freeze(START)
    token = space.control("POST", "/_sandbox/yandex_oauth/tokens", json={"account": "anna"})
    user = space.session("disk", mode="oauth_token", access_token=token["access_token"])
    assert user.get("/v1/disk/files").status == 200
    space.clock.advance(token["expires_in"] + 1)
    assert user.get("/v1/disk/files?refresh=1").status == 401


def test_a_running_clock_goes_on_from_where_it_is(space):
    space.clock.freeze(START)
    space.clock.run()
    assert space.clock.frozen is False and space.clock.now > "2030-01-05T10:00:00.000Z"
