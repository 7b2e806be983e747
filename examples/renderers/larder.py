"""Requests to Larder, with Python's library only."""
import json, urllib.error, urllib.request


class Larder:
    def __init__(self, base, language):
        self.base, self.language, self.token = base, language, None

    def call(self, method, href, body=None, headers=()):
        """Returns a response; of one that is no JSON the number of its bytes."""
        fields = {"Accept": "application/json", "Accept-Language": self.language, **dict(headers)}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, dict):
            fields["Content-Type"], body = "application/json", json.dumps(body).encode()
        request = urllib.request.Request(self.base + href, body, fields, method=method)
        try:
            response = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            response = error
        content = response.read()
        return json.loads(content) if "json" in response.headers.get("Content-Type", "") else {"bytes": len(content)}
