import pytest


@pytest.fixture
def space(larder_space):
    """A world of its own for each test."""
    return larder_space


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
