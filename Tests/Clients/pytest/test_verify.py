"""Whether the front end asked for what it should have."""
import pytest
from larder_testing import Refused, Unverified


def test_counts_are_exact(space, guest):
    for _ in range(3):
        guest.get("/v1/ships")
    assert space.verify("GET", "/v1/ships", exactly=3) == 3
    assert space.verify("GET", "/v1/ships", at_least=1, at_most=3, status=200) == 3
    space.verify("DELETE", exactly=0)


def test_a_failure_shows_the_nearest_request(space, guest):
    guest.get("/v1/ships?limit=2")
    with pytest.raises(Unverified) as failure:
        space.verify("GET", "/v1/ships", query={"limit": "3"}, exactly=1)
    assert failure.value.matched == 0
    assert "query.limit: expected '3', was '2'" in str(failure.value)
    assert "/v1/ships?limit=2" in str(failure.value)


def test_an_upstream_has_a_journal_of_its_own(space, guest):
    guest.get("/v1/ships")
    space.verify("GET", "/v4/ships", upstream="spacex", exactly=1, status=200)
    with pytest.raises(Unverified, match="found 1"):
        space.verify("GET", "/v4/ships", upstream="spacex", exactly=2)


def test_nothing_at_all_is_said(space):
    space.forget()
    with pytest.raises(Unverified, match="no request at all"):
        space.verify("GET", "/v1/ships")


def test_bodies_and_routes_are_compared(space, guest):
    guest.get("/v1/ships?limit=1")
    guest.get("/v1/ships/unknown")
    space.verify("get", "/v1/ships", exactly=1)
    space.verify(route="GET /v1/ships/{id}", exactly=1, status=404)
    space.post("/v1/shop/list/items", {"product_id": 5, "quantity": 2})
    space.verify(body={"product_id": 5}, exactly=1)
    with pytest.raises(Unverified):
        space.verify(body={"product_id": 5}, exactly=0)
    assert space.count(route="GET /v1/ships") == 1


def test_what_could_never_match_is_refused(space):
    for match in ({"path": "/v1/shps"}, {"method": "GTE"}, {"route": "GET /v1/shps"}):
        with pytest.raises(Refused):
            space.verify(**match, exactly=0)


def test_an_upstream_is_named_in_either_way(space, guest):
    guest.get("/v1/ships")
    for path in ("/v4/ships", "/spacex/v4/ships"):
        assert space.verify("GET", path, upstream="spacex", exactly=1) == 1
        assert space.upstream("spacex").count(path=path) == 1


def test_an_unknown_upstream_is_refused(space):
    with pytest.raises(Refused, match="spacex"):
        space.verify("GET", "/", upstream="space")
