#!/usr/bin/env python3
"""The PDF app in a terminal: pdf.py http://127.0.0.1:8080 [LANGUAGE]"""
import pathlib, uuid
from screen import Terminal


class Documents(Terminal):
    """Files are typed as paths, with commas between them, and sent as parts of a form (RFC 7578)."""

    def value(self, kind, text):
        if kind != "files":
            return super().value(kind, text)
        return [(path.name, path.read_bytes()) for path in (pathlib.Path(one.strip()) for one in text.split(","))]

    def send(self, action, values):
        kinds = {field["name"]: field["kind"] for field in action.get("fields") or []}
        if "files" not in kinds.values():
            return super().send(action, values)
        boundary, parts = uuid.uuid4().hex, []
        for name, value in values.items():
            for one in value if kinds[name] == "files" else [value]:
                isFile = kinds[name] == "files"
                file = f'; filename="{one[0]}"\r\nContent-Type: application/octet-stream' if isFile else ""
                head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
                parts.append(head.encode() + (one[1] if isFile else str(one).encode()) + b"\r\n")
        body = b"".join(parts) + f"--{boundary}--\r\n".encode()
        form = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.larder.call(action["method"], action["href"], body, form)


Documents.main("pdf")
