"""The addresses of the front end, with the app whose session they need."""
from typing import NamedTuple


class Address(NamedTuple):
    path: str
    app: str | None = None

    def __str__(self):
        return self.path


OPEN = [
    Address("/"), Address("/status"), Address("/shop"), Address("/shop?q=chair"), Address("/shop/list"),
    Address("/shop/1"), Address("/pdf/welcome"), Address("/pdf"), Address("/pdf/new"), Address("/ships/login"),
    Address("/notes/login"), Address("/disk/onboarding"), Address("/disk/login"),
]
DISK = [
    Address(f"/disk/{name}", "disk") for name in
    ["recent", "files", "files?path=disk:/Имена", "search?query=pdf", "published", "trash", "profile"]
]
SHIPS = [Address("/ships", "ships")]
NOTES = [Address("/notes", "notes"), Address("/notes/new", "notes"), Address("/notes/map", "notes"),
         Address("/notes/people", "notes")]
ALL = OPEN + DISK + SHIPS + NOTES
