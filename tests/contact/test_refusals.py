"""What contact cannot be is refused in one sentence, with the name, the value and the remedy."""

import numpy as np
import pytest

import linkwork as lw

OPEN = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]), [[0, 2, 1], [0, 1, 3], [0, 3, 2]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lw.Contact(friction=-0.1, name="c"), 'Contact "c": friction is -0.1; give a finite number of at least 0'),
        (lambda: lw.Contact(friction=np.nan, name="c"), 'Contact "c": friction is nan; give a finite number of at least 0'),
        (lambda: lw.Contact(stiffness=-5.0, name="c"), 'Contact "c": stiffness is -5; give a finite number greater than 0'),
        (lambda: lw.Contact(stiffness=0.0, name="c"), 'Contact "c": stiffness is 0; give a finite number greater than 0'),
        (
            lambda: lw.Contact(stiffness=1.0, damping=-1.0, name="c"),
            'Contact "c": damping is -1; give a finite number of at least 0',
        ),
        (
            lambda: lw.Collider(lw.World().ground, lw.Plane(), friction=-1.0, name="floor"),
            'Collider "floor": friction is -1; give a finite number of at least 0',
        ),
        (
            lambda: lw.RigidBody(1.0, shape=lw.Mesh(*OPEN), name="rock"),
            'RigidBody "rock": shape is Mesh(4 vertices, 3 triangles), which only stands on the ground; give a solid such as Box(0.4, 0.1, 0.1)',
        ),
    ],
)
def test_one_sentence_says_what_is_wrong(make, words):
    with pytest.raises(lw.LinkworkError) as caught:
        make()
    assert str(caught.value) == words
