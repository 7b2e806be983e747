"""What a front end sees when Larder itself is slow, gone or refuses."""
import time

import pytest
from larder_testing import Refused


def test_one_route_is_slow(space, guest):
    space.front_fault("slow(300)", route="/v1/ships")
    begin = time.monotonic()
    assert guest.get("/v1/ships").status == 200 and time.monotonic() - begin >= 0.3


def test_one_answer_is_an_error(space, guest):
    space.front_fault("error(500)", route="/v1/ships", times=1)
    assert [guest.get("/v1/ships").status for _ in range(2)] == [500, 200]


def test_larder_is_gone_but_its_controls_are_not(space):
    space.front_fault("offline")
    with pytest.raises(ConnectionError):
        space.get("/v1/status")
    assert space.clock.frozen is False
    space.reset()
    assert space.get("/v1/status").status == 200


def test_faults_reach_event_streams_that_are_open(space):
    guest = space.session("ships", mode="guest")
    route = "GET /v1/events"
    with space.events() as events:
        space.front_fault("hold", route=route)
        space.upstream("spacex").offline()
        guest.get("/v1/ships?refresh=1")
        while space.control("GET", "/_harness/front/fault")["waiting"] == 0:
            pass
        space.control("POST", "/_harness/front/release")
        assert events.wait("connectivity").data["reachable"] is False
        space.front_fault("offline", route=route)
        with pytest.raises(AssertionError, match="the stream ended"):
            events.wait("none")


def test_faults_of_other_routes_and_counted_ones_leave_event_streams_alone(space):
    guest = space.session("ships", mode="guest")
    route = "GET /v1/events"
    with space.events() as events:
        space.front_fault("offline", route=route, times=1)
        space.front_fault("hold", route=route)
        with pytest.raises(Refused):
            space.control("DELETE", "/_harness/front/fault", query={"route": "/v1/ships"})
        space.upstream("spacex").offline()
        guest.get("/v1/ships?refresh=1")
        while space.control("GET", "/_harness/front/fault")["waiting"] == 0:
            pass
        space.control("DELETE", "/_harness/front/fault", query={"route": route})
        space.control("POST", "/_harness/front/release")
        assert events.wait("connectivity").data["reachable"] is False
