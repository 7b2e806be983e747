"""Recordings of an upstream, and upstreams that are made from a document."""
import json
import re
import urllib.error
import urllib.request

import pytest
from larder_testing import Larder, Refused

WEATHER = {
    "openapi": "3.1.0",
    "info": {"title": "Weather", "version": "1"},
    "paths": {
        "/today": {
            "get": {
                "parameters": [{"name": "days", "in": "query", "schema": {"type": "integer"}}],
                "responses": {"200": {"content": {"application/json": {"example": {"celsius": 21}}}}},
            }
        }
    },
}


@pytest.fixture
def recorder(tmp_path):
    # A busy machine may need more than the patience to record: the response would be the bundled copy.
    settings = {"upstreams_spacex_fixtures": tmp_path, "upstreams_spacex_patience_ms": 60_000}
    with Larder.start(notes_scrypt_logarithm=10, **settings) as larder:
        yield larder


def ships(larder):
    guest = larder.session("ships", mode="guest")
    return guest.get("/v1/ships", headers={"Cache-Control": "no-cache"})


def test_what_was_recorded_is_replayed_without_the_upstream(recorder, tmp_path):
    spacex = recorder.upstream("spacex")
    spacex.mode("record")
    recorded = ships(recorder)
    assert recorded.meta["source"] == "upstream"
    (file,) = tmp_path.glob("*-GET-v4-ships.http.yaml")
    assert [one["file"] for one in spacex.recordings["files"]] == [file.name]

    recorder.reset()
    spacex.mode("replay")
    spacex.offline()
    replayed = ships(recorder)
    assert replayed.meta["offline"] is False
    assert [one["name"] for one in replayed.data["items"]] == [one["name"] for one in recorded.data["items"]]
    assert spacex.count() == 0
    assert spacex.recordings["files"][0]["uses"] == 1


def test_a_file_that_was_edited_is_what_is_replayed(recorder, tmp_path):
    spacex = recorder.upstream("spacex")
    spacex.mode("record")
    name = ships(recorder).data["items"][0]["name"]
    (file,) = tmp_path.glob("*-GET-v4-ships.http.yaml")
    file.write_text(file.read_text().replace(name, "Edited by hand"))
    recorder.reset()
    spacex.mode("replay")
    assert "Edited by hand" in ships(recorder).text


def test_a_request_without_a_recording_is_named(recorder):
    spacex = recorder.upstream("spacex")
    spacex.mode("replay")
    ships(recorder)
    assert spacex.recordings["unmatched"]
    assert spacex.count() == 0


def test_a_mode_without_a_folder_is_refused(space):
    with pytest.raises(Refused) as refusal:
        space.upstream("spacex").mode("record")
    assert refusal.value.status == 409


def test_a_stub_responds_with_the_example_of_its_document(space):
    weather = space.stub("weather", WEATHER)
    with urllib.request.urlopen(f"{weather.url}/today") as response:
        assert json.load(response) == {"celsius": 21}
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{weather.url}/today?days=many")
    assert refusal.value.code == 400
    weather.fault("error(503)")
    with pytest.raises(urllib.error.HTTPError) as failure:
        urllib.request.urlopen(f"{weather.url}/today")
    assert failure.value.code == 503
    assert [request.status for request in weather.requests()] == [200, 400, 503]
    weather.remove()
    assert "weather" not in [one.name for one in space.upstreams]


def test_a_stub_is_of_one_space(server, space):
    space.stub("weather", WEATHER)
    with server.space() as other:
        assert "weather" not in [one.name for one in other.upstreams]


def test_a_document_that_is_none_is_refused(space):
    with pytest.raises(Refused) as refusal:
        space.stub("weather", {"openapi": "9"})
    assert refusal.value.status in (400, 422)


def test_a_strict_replay_fails_without_a_recording_and_with_an_old_one(tmp_path):
    fixtures = tmp_path / "recordings"
    settings = {"upstreams_catalogue_fixtures": fixtures}
    path, no_copy = "/v1/upstreams/catalogue/categories", {"Cache-Control": "no-store"}
    with Larder.start(upstreams_catalogue_mode="record", **settings) as larder:
        assert larder.get(path, headers=no_copy).status == 200
    file = next(fixtures.glob("*.http.yaml"))
    with Larder.start(upstreams_catalogue_mode="replay", **settings) as larder, \
            larder.space() as space:
        assert space.get(path, headers=no_copy).status == 200
        space.verify_recordings(30)
        file.write_text(re.sub(r"day: .*", "day: 2020-01-01", file.read_text()))
        with pytest.raises(AssertionError, match="is of 2020-01-01"):
            space.verify_recordings(30)
        space.verify_recordings()
        assert space.get("/v1/upstreams/catalogue/products", headers=no_copy).status == 404
        with pytest.raises(AssertionError, match="catalogue: no recording of GET /products"):
            space.verify_recordings()
