"""Larder's own client of the shared store as a load: the test `interrupted` of PostgresDatabaseFaultTests.swift."""
import os

from cluster import check, wait


class Writer:
    """Numbered changes by Sources/Kit/Cluster; each that is acknowledged adds a line to a file."""

    def __init__(self, cluster, name, url, url_afterwards=None, prefix=[]):
        self.cluster, self.name = cluster, name
        self.log, self.pipe = cluster.path(f"{name}.log"), cluster.path(f"{name}.end")
        self.output = open(cluster.path(f"{name}.out"), "w+")
        os.mkfifo(self.pipe)
        environment = {**os.environ, "SCALE_STORE": url, "SCALE_STORE_AFTERWARDS": url_afterwards or url,
                       "SCALE_FOLDER": cluster.folder, "SCALE_WRITER": name}
        tests = cluster.options.tests
        if not os.path.exists(tests):
            raise SystemExit(f"check-scale: {tests} is missing: swift build --build-tests")
        self.process = cluster.start(name, [*prefix, tests, "--testing-library", "swift-testing", "--filter", "InterruptedStoreTests"],
                                     env=environment, output=self.output)
        self.more(200)

    @property
    def acknowledged(self):
        try:
            with open(self.log, "rb") as lines:
                return lines.read().count(b"\n")
        except FileNotFoundError:
            return 0

    def more(self, count, seconds=120):
        """Waits until so many more changes were acknowledged."""
        goal = self.acknowledged + count
        wait(f"{count} more acknowledged changes of {self.name}", lambda: self.running() and self.acknowledged >= goal, seconds)

    def running(self):
        if self.process.poll() is not None:
            self.show()
            raise SystemExit(f"check-scale: {self.name} ended with {self.process.returncode}")
        return True

    def show(self):
        self.output.seek(0)
        print(self.output.read()[-3000:])

    def end(self, least):
        """Ends the load; the test then reads whether all that was acknowledged is there."""
        with open(self.pipe, "w"):
            pass
        status, count = self.process.wait(120), self.acknowledged
        if status != 0:
            self.show()
        check(f"SCALE-08 {self.name}: of {count} acknowledged changes none is missing", status == 0 and count >= least)
