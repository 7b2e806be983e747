"""The screens of the apps whose data comes from an upstream, and how a user gets to them."""
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Screen:
    app: str
    upstream: str
    path: str
    login: dict[str, Any] | None

    def user(self, space):
        return space.session(self.app, **self.login) if self.login else space

    @property
    def refreshed(self) -> str:
        return self.path + ("&" if "?" in self.path else "?") + "refresh=1"


ANNA = {"mode": "register", "username": "anna", "password": "correct horse"}
SCREENS = [
    Screen("ships", "spacex", "/v1/ships", {"mode": "guest"}),
    Screen("shop", "catalogue", "/v1/shop/search?limit=10", None),
    Screen("notes", "people", "/v1/notes/people", ANNA),
    Screen("disk", "yandex_disk", "/v1/disk/files", {"mode": "oauth_token", "access_token": "sandbox-token"}),
]
