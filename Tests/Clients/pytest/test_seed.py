"""State that a test begins with."""
import pytest
from larder_testing import Refused

SEED = {
    "accounts": [{"app": "notes", "name": "anna", "token": "t-anna"}, {"app": "ships", "token": "t-guest"}],
    "notes": [{"account": "anna", "body": f"note {n}"} for n in range(100)],
    "list": [{"product_id": 53, "quantity": 2}],
}


def test_one_document_fills_the_apps(space):
    assert space.seed(SEED)["stored"]["notes"] == 100
    assert space.user("t-anna").get("/v1/notes").meta["page"]["total"] == 100
    assert space.user("t-guest").get("/v1/ships").status == 200
    assert space.get("/v1/shop/list").data["totals"]["items"] == 2


def test_a_seed_is_all_or_nothing_and_names_what_is_wrong(space):
    wrong = {**SEED, "notes": [*SEED["notes"], {"account": "boris", "body": "whose?"}]}
    with pytest.raises(Refused, match="/notes/100/account") as refusal:
        space.seed(wrong)
    assert refusal.value.status == 422
    assert space.user("t-anna").get("/v1/notes").status == 401
    assert space.get("/v1/shop/list").data["items"] == []
