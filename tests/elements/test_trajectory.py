"""Recorded motions: what is between the samples, files, refusals."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from linkwork.elements import Trajectory
from linkwork.errors import ElementError


def wobbly(n=20, flips=False):
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.uniform(0.05, 0.15, n))
    turns = Rotation.from_rotvec(np.cumsum(0.5 * rng.normal(size=(n, 3)), axis=0))
    q = turns.as_quat(scalar_first=True)
    signs = np.where(rng.normal(size=n) > 0, 1.0, -1.0)[:, None] if flips else 1.0
    return times, rng.normal(size=(n, 3)), signs * q, turns


@pytest.mark.parametrize("flips", [False, True])
def test_positions_are_linear_and_orientations_turn_evenly(flips):
    times, positions, q, turns = wobbly(flips=flips)
    motion = Trajectory(times, positions, q)
    at = np.random.default_rng(2).uniform(times[0], times[-1], 200)
    found = motion.at(at)
    np.testing.assert_allclose(found[:, :3], np.stack([np.interp(at, times, x) for x in positions.T], axis=1), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found[:, 3:7], axis=1), 1.0, atol=1e-14)
    wanted = Slerp(times, turns)(at).as_matrix()
    np.testing.assert_allclose(Rotation.from_quat(found[:, 3:7], scalar_first=True).as_matrix(), wanted, atol=1e-12)
    h = 1e-6  # velocities are those of the poses
    near = [motion.at(at - h), motion.at(at + h)]
    inside = np.abs(at[:, None] - times).min(axis=1) > h
    np.testing.assert_allclose(found[inside, 7:10], ((near[1] - near[0]) / (2 * h))[inside, :3], atol=1e-6)
    spin = (Rotation.from_quat(near[1][:, 3:7], scalar_first=True)
            * Rotation.from_quat(near[0][:, 3:7], scalar_first=True).inv()).as_rotvec() / (2 * h)  # fmt: skip
    np.testing.assert_allclose(found[inside, 10:], spin[inside], atol=1e-6)


def test_at_its_samples_and_beyond_its_ends():
    times, positions, q, _ = wobbly()
    motion = Trajectory(times, positions, q)
    np.testing.assert_allclose(motion.at(times)[:, :3], positions, atol=1e-13)
    before, after = motion.at([times[0] - 1.0, times[-1] + 1.0])
    np.testing.assert_array_equal(before[:3], positions[0])
    np.testing.assert_allclose(after[:3], positions[-1], atol=1e-14)
    assert not before[7:].any() and not after[7:].any() and motion.at(times[0])[0, 7:].any()
    still = Trajectory([0, 1], [(0, 0, 0), (1, 0, 0)]).at([0.5, 2.0])
    np.testing.assert_array_equal(still[:, 3:7], [(1, 0, 0, 0)] * 2)


def test_steps_have_the_mean_velocities():
    times, positions, q, _ = wobbly()
    motion = Trajectory(times, positions, q)
    grid = np.linspace(times[0] - 0.5, times[-1] + 0.5, 41)
    steps, poses = motion.between(grid), motion.at(grid)
    np.testing.assert_array_equal(steps[:, :7], poses[1:, :7])
    h = np.diff(grid)[:, None]
    np.testing.assert_allclose(poses[:-1, :3] + h * steps[:, 7:10], poses[1:, :3], atol=1e-12)
    moved = Rotation.from_rotvec(h * steps[:, 10:]) * Rotation.from_quat(poses[:-1, 3:7], scalar_first=True)
    np.testing.assert_allclose(moved.as_matrix(), Rotation.from_quat(poses[1:, 3:7], scalar_first=True).as_matrix(), atol=1e-12)


@pytest.mark.parametrize("turning", [False, True])
def test_files_keep_every_digit(tmp_path, turning):
    times, positions, q, _ = wobbly()
    motion = Trajectory(times, positions, q if turning else None)
    motion.save(tmp_path / "motion.csv")
    again = Trajectory.load(tmp_path / "motion.csv")
    np.testing.assert_array_equal(again.times, motion.times)
    np.testing.assert_array_equal(again.positions, motion.positions)
    assert (again.orientations is None) == (not turning)
    if turning:
        np.testing.assert_allclose(again.orientations, motion.orientations, atol=1e-16)
    assert (tmp_path / "motion.csv").read_text().startswith("t,x,y,z,qw" if turning else "t,x,y,z\n")
    assert repr(again) == f"<Trajectory: 20 samples from {times[0]:g} s to {times[-1]:g} s>" and len(again) == 20


GOOD = [(0, 0, 0)] * 4


@pytest.mark.parametrize("make, says", [
    (lambda: Trajectory([0], [(0, 0, 0)]), "it has 1 times; give at least two"),
    (lambda: Trajectory([0, 1, 1, 2], GOOD), "times go from 1 s to 1 s in row 2; give increasing times"),
    (lambda: Trajectory([0, 2, 1, 3], GOOD), "times go from 2 s to 1 s in row 2; give increasing times"),
    (lambda: Trajectory([0, 1, math.nan, 3], GOOD), "times is not finite in row 2; fill such rows or leave them out"),
    (lambda: Trajectory([0, 1, 2, 3], [(0, 0, 0), (0, math.nan, 0), (0, 0, 0), (0, 0, 0)]), "positions is not finite in row 1"),
    (lambda: Trajectory([0, 1, 2, 8], GOOD), r"there is a gap of 6 s after 2 s \(row 2\); fill it, or allow it with gap= \(now 5 s\)"),
    (lambda: Trajectory([0, 1, 3, 4], GOOD, gap=1.5), r"there is a gap of 2 s after 1 s \(row 1\)"),
    (lambda: Trajectory([0, 1, 2, 3], GOOD, gap=0), "gap is 0; give a finite number greater than 0"),
    (lambda: Trajectory([0, 1, 2], GOOD), "positions has 4 rows for 3 times; give one row a time"),
    (lambda: Trajectory([0, 1, 2, 3], [(0, 0)] * 4), r"positions has the shape \(4, 2\); give n x 3 numbers"),
    (lambda: Trajectory("soon", GOOD), "times is 'soon'; give an array of n numbers"),
    (lambda: Trajectory([0, 1, 2, 3], GOOD, [(1, 0, 0)] * 4), r"orientations has the shape \(4, 3\); give n x 4 numbers"),
    (lambda: Trajectory([0, 1, 2, 3], GOOD, [(1, 0, 0, 0), (2, 0, 0, 0)] * 2), "orientations has the length 2 in row 1; give unit"),
    (lambda: Trajectory.load("nowhere.csv"), 'there is no file "nowhere.csv"; give the path of a CSV file'),
])  # fmt: skip
def test_what_is_no_motion_is_refused_in_one_sentence(make, says):
    with pytest.raises(ElementError, match=rf"^Trajectory: {says}") as caught:
        make()
    assert "\n" not in str(caught.value)
    Trajectory([0, 1, 2, 8], GOOD, gap=6.0)


@pytest.mark.parametrize("text, says", [
    ("time,x,y,z\n0,0,0,0\n1,0,0,0\n", "begins with .*; give the header t,x,y,z or t,x,y,z,qw,qx,qy,qz"),
    ("", "begins with .*; give the header"),
    ("t,x,y,z\n", "has no rows of 4 numbers; give one row a time"),
    ("t,x,y,z\n0,0,0,0\n1,a,0,0\n", "holds what is no number"),
    ("t,x,y,z\n0,0,0\n1,0,0\n", "has no rows of 4 numbers; give one row a time"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*input contained no data")
def test_files_that_hold_no_motion_are_refused(tmp_path, text, says):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ElementError, match=rf'^Trajectory: ".*bad.csv" {says}') as caught:
        Trajectory.load(tmp_path / "bad.csv")
    assert "\n" not in str(caught.value)


def two_motions():
    times = [0.0, 0.5, 1.0]
    turns = np.array([[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0.6, 0.8, 0, 0]])
    return {"left.hand": Trajectory(times, np.arange(9.0).reshape(3, 3), turns), "ball": Trajectory(times, np.ones((3, 3)))}


def test_motions_of_many_bodies_go_to_one_file_and_back(tmp_path):
    path = tmp_path / "all.csv"
    Trajectory.save_all(path, two_motions())
    found = Trajectory.load_all(path)
    assert list(found) == ["left.hand", "ball"]
    for name, motion in two_motions().items():
        np.testing.assert_array_equal(found[name].at([0.1, 0.7]), motion.at([0.1, 0.7]))
        np.testing.assert_array_equal(Trajectory.load(path, of=name).at(0.3), motion.at(0.3))


@pytest.mark.parametrize(("text", "of", "says"), [
    ("t,a.x,a.y,a.z\n0,0,0,0\n1,0,0,0\n", None, 'holds the motion of 1 bodies; say of which, such as of="a"'),
    ("t,a.x,a.y,a.z\n0,0,0,0\n1,0,0,0\n", "b", 'holds no motion of "b"; give a body that it has: a'),
    ("t,a.x,a.z,a.y\n0,0,0,0\n1,0,0,0\n", "a", "has the columns x,z,y of 'a'; give NAME.x,NAME.y,NAME.z of each body"),
    ("t,a.x,a.y,a.z,x,y,z\n0,0,0,0,0,0,0\n1,0,0,0,0,0,0\n", "a", "give NAME.x,NAME.y,NAME.z of each body"),
])  # fmt: skip
def test_files_of_many_that_cannot_be_read_say_why(tmp_path, text, of, says):
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(ElementError) as caught:
        Trajectory.load(path, of=of)
    assert says in str(caught.value)


def test_motions_with_other_times_do_not_go_to_one_file(tmp_path):
    motions = two_motions() | {"late": Trajectory([0.0, 2.0], np.zeros((2, 3)))}
    with pytest.raises(ElementError, match="3 motions have no times in common; give motions with the same times"):
        Trajectory.save_all(tmp_path / "all.csv", motions)
