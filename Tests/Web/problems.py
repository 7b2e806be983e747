"""The problems of openapi.yaml, and responses that carry them in place of those of the server."""
import json, pathlib, re

CONTRACT = (pathlib.Path(__file__).parents[2] / "openapi.yaml").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^( +)title: (.+)\n\1status: (\d+)\n((?:\1.*\n)+)", re.M)
# Those that say that the session has ended.
ENDED = ["session-required", "session-expired", "upstream-session-expired"]
WORDS = {"en": ("Error", "What {} says.", "OK"), "ru": ("Ошибка", "Что говорит {}.", "ОК")}


class Problem:
    """A code of the contract, with the status of its first example and whether it may be tried again."""

    def __init__(self, code, status, title, retryable):
        self.code, self.status, self.title, self.retryable = code, status, title, retryable

    def __repr__(self):
        return self.code

    def message(self, language="en"):
        return WORDS[language][1].format(self.code)

    def body(self, language="en"):
        title, _, button = WORDS[language]
        return {
            "type": f"urn:larder:problem:{self.code}", "title": self.title, "status": self.status, "code": self.code,
            "detail": "For developers", "instance": "/v1", "state": "error", "offline": False,
            "retryable": self.retryable, "upstream": None, "errors": [],
            "dialog": {"title": title, "message": self.message(language), "buttons": [button]},
        }

    def respond(self, route, language="en", **fields):
        """Gives this problem as the response to a request of a page."""
        route.fulfill(status=self.status, body=json.dumps(self.body(language)),
                      headers={"Content-Type": "application/problem+json", "Content-Language": language, **fields})


def examples():
    """The problems of which the contract has an example, by code."""
    found = {}
    for _, title, status, rest in EXAMPLE.findall(CONTRACT):
        code, retryable = (re.search(rf"^ +{name}: (\S+)", rest, re.M) for name in ["code", "retryable"])
        if code and retryable:
            plain = title.strip("'").replace("''", "'")
            found.setdefault(code[1], Problem(code[1], int(status), plain, retryable[1] == "true"))
    return found


def codes():
    """Every code that the contract lists."""
    listed = re.search(r"x-extensible-enum:\s*\[(malformed-request,.*?)\]", CONTRACT, re.S)[1]
    return [code.strip() for code in listed.split(",")]


# Without the one that leads to the page of the code (test_pairing.py).
PROBLEMS = {code: problem for code, problem in examples().items() if code != "pairing-required"}
