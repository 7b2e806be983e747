import pytest


@pytest.fixture
def space(larder_space):
    """A world of its own for each test."""
    return larder_space


@pytest.fixture
def server(larder):
    """The server of the run, where it can have spaces: a worker of `larder exec --spaces` has a space in its place."""
    if not larder.has_spaces:
        pytest.skip("a space has no spaces of its own")
    return larder


@pytest.fixture
def guest(space):
    """A guest of the Ships app."""
    return space.session("ships", mode="guest")


@pytest.fixture
def spacex(space):
    return space.upstream("spacex")


@pytest.fixture
def catalogue(space):
    return space.upstream("catalogue")
