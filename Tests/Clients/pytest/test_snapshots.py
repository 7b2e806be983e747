"""States that a test keeps and brings back."""
import pytest
from larder_testing import Refused


def test_a_restored_state_is_the_one_that_was_kept(space):
    anna = space.session("notes", mode="register", username="anna", password="correct horse")
    anna.post("/v1/notes", {"body": "kept"})
    space.snapshot("before")
    anna.post("/v1/notes", {"body": "gone"})
    boris = space.session("notes", mode="register", username="boris", password="correct horse")
    space.upstream("spacex").offline()
    space.restore("before")
    assert [note["first_line"] for note in anna.get("/v1/notes").data["items"]] == ["kept"]
    assert boris.get("/v1/notes").status == 401
    assert space.session("ships", mode="guest").get("/v1/ships").meta["source"] == "upstream"


def test_a_snapshot_is_restored_as_often_as_needed(space):
    space.snapshot("empty")
    for _ in range(3):
        space.post("/v1/shop/list/items", {"product_id": 53, "quantity": 2})
        space.restore("empty")
        assert space.get("/v1/shop/list").data["items"] == []


def test_a_space_begins_with_a_snapshot(server):
    server.seed({"list": [{"product_id": 53, "quantity": 2}]})
    server.snapshot("with-a-list")
    server.delete("/v1/shop/list")
    with server.space(snapshot="with-a-list") as space:
        assert space.get("/v1/shop/list").data["totals"]["items"] == 2
    assert server.get("/v1/shop/list").data["items"] == []


def test_an_unknown_snapshot_is_refused(space):
    with pytest.raises(Refused) as refusal:
        space.restore("nothing")
    assert refusal.value.status == 404
