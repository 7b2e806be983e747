"""Fingers on a screen: points that go down, move and go up, as the browser gets them from a touchscreen."""


class Fingers:
    def __init__(self, page):
        self.client = page.context.new_cdp_session(page)
        self.points = []

    def send(self, kind, points):
        self.client.send("Input.dispatchTouchEvent", {
            "type": kind, "touchPoints": [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})
        self.points = points

    def down(self, *points):
        self.send("touchStart", list(points))

    def move(self, *points, steps=6):
        began = self.points
        for step in range(1, steps + 1):
            self.send("touchMove", [(x + (to_x - x) * step / steps, y + (to_y - y) * step / steps)
                                    for (x, y), (to_x, to_y) in zip(began, points)])

    def up(self):
        self.send("touchEnd", [])

    def drag(self, begin, *ways):
        """One finger: down, along the ways, up."""
        self.down(begin)
        for way in ways:
            self.move(way)
        self.up()


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
