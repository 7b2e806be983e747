#!/usr/bin/env python3
"""The Notes app in a terminal: notes.py http://127.0.0.1:8080 [LANGUAGE]"""
from screen import Terminal


class Notes(Terminal):
    """A place is typed as latitude, longitude and name: 55.75, 37.62, Red Square."""

    def value(self, kind, text):
        if kind != "location":
            return super().value(kind, text)
        latitude, longitude, *name = (part.strip() for part in text.split(",", 2))
        return {"lat": float(latitude), "lon": float(longitude), "name": "".join(name) or None}


Notes.main("notes")
