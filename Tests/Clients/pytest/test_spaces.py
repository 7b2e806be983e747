"""Several worlds in one process."""
from larder_testing import Refused

import pytest


@pytest.fixture
def other(server):
    with server.space() as space:
        yield space


def test_nothing_of_one_is_seen_in_the_other(space, other, guest):
    other.upstream("spacex").offline()
    other.clock.freeze("2030-01-05T10:00:00Z")
    other.post("/v1/shop/list/items", {"product_id": 53, "quantity": 2})
    assert guest.get("/v1/ships").meta["offline"] is False
    assert space.get("/v1/shop/list").data["items"] == [] and space.clock.frozen is False
    assert other.upstream("spacex").count() == 0 and other.requests(path="/v1/ships") == []
    assert other.get("/v1/ships", headers={"Authorization": f"Bearer {guest.token}"}).status == 401


def test_a_name_belongs_to_one(server):
    with server.space(f"named-{id(server)}") as named:
        with pytest.raises(Refused) as refusal:
            server.space(named.name)
        assert refusal.value.status == 409


def test_an_ended_space_is_gone(server):
    space = server.space()
    assert space.get("/v1/status").status == 200
    space.end()
    space.end()
    with pytest.raises(ConnectionError):
        space.get("/v1/status")


def test_an_event_of_one_reaches_no_other(space, other):
    with space.events() as here, other.events() as there:
        other.post("/v1/shop/list/items", {"product_id": 53, "quantity": 1})
        there.wait("screen-changed")
        space.post("/v1/shop/list/items", {"product_id": 53, "quantity": 1})
        here.wait("screen-changed")
    assert [event.name for event in here.seen] == ["screen-changed"]
