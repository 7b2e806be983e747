"""What a front end is told."""


def test_an_outage_and_its_end_are_announced(space, guest, spacex):
    guest.get("/v1/ships")
    space.clock.freeze()
    with space.events() as events:
        spacex.offline()
        guest.get("/v1/ships?refresh=1")
        events.wait("connectivity", lambda data: data["upstream"] == "spacex" and not data["reachable"])
        spacex.online()
        space.clock.advance(61)
        events.wait("connectivity", lambda data: data["upstream"] == "spacex" and data["reachable"])


def test_another_client_sees_what_was_put_on_the_list(space):
    with space.events() as events:
        assert space.post("/v1/shop/list/items", {"product_id": 53, "quantity": 2}).status == 201
        event = events.wait("screen-changed", lambda data: data["screen"] == "shop.list")
    assert space.get("/v1/shop/list").meta["revision"] == event.data["revision"]


def test_events_of_a_user_are_no_one_elses(space):
    anna = space.session("notes", mode="register", username="anna", password="correct horse")
    boris = space.session("notes", mode="register", username="boris", password="correct horse")
    with anna.events() as hers, boris.events() as his:
        anna.post("/v1/notes", {"body": "hers"})
        hers.wait("screen-changed", lambda data: data["screen"] == "notes.list")
        boris.post("/v1/notes", {"body": "his"})
        his.wait("screen-changed", lambda data: data["screen"] == "notes.list")
    assert len([event for event in his.seen if event.name == "screen-changed"]) == 1
