"""How the bytes of an upstream arrive, seen on its own port."""
import http.client
import time

import pytest
from larder_testing.http import connect, send

SHIPS = "/spacex/v4/ships"


def taken(space, path=SHIPS):
    begin = time.monotonic()
    response = send(space.sandbox_url, "GET", path)
    return response, time.monotonic() - begin


def test_slow_delays_the_response(space, spacex):
    spacex.fault("slow(300)")
    response, seconds = taken(space)
    assert response.status == 200 and seconds >= 0.3


def test_bandwidth_takes_its_time(space, spacex):
    whole = send(space.sandbox_url, "GET", SHIPS)
    spacex.fault("bandwidth(64)")
    response, seconds = taken(space)
    assert response.body == whole.body and seconds >= len(whole.body) / 64_000 * 0.8


def test_jitter_stays_in_its_range(space, spacex):
    spacex.fault("jitter(100, 200, 7)")
    assert taken(space)[1] >= 0.1


def test_faults_are_combined(space, spacex):
    spacex.fault("slow(200)", "error(503)")
    response, seconds = taken(space)
    assert response.status == 503 and seconds >= 0.2


def test_reset_ends_a_body_in_the_middle(space, spacex):
    spacex.fault("reset(100)")
    with pytest.raises((ConnectionError, http.client.IncompleteRead)):
        send(space.sandbox_url, "GET", SHIPS)


def test_slices_are_the_same_bytes(space, spacex):
    whole = send(space.sandbox_url, "GET", SHIPS)
    spacex.fault("slice(4096, 1)")
    assert send(space.sandbox_url, "GET", SHIPS).body == whole.body


def test_slow_close_keeps_the_connection_after_the_body(space, spacex):
    spacex.fault("slow_close(300)")
    begin = time.monotonic()
    connection = connect(space.sandbox_url)
    connection.request("GET", SHIPS)
    raw = connection.sock.makefile("rb")
    while raw.read(65536):
        pass
    assert time.monotonic() - begin >= 0.3
    connection.close()
