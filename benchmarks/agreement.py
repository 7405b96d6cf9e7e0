"""Do all contestants simulate the same mechanism? The tip of the chain 0.2 s after release, against a fine reference.

    python -m benchmarks.agreement

Every contestant integrates to first order at least, so tips differ by some multiple of dt; a tenth of the step must
bring them ten times closer. The reference is DOP853 on the chain's angles: the motion is planar, and the mass matrix is
a formula.
"""

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.contestants import contestants
from benchmarks.peers.interface import GRAVITY, INERTIA, LENGTH, MASS, Refused

SECONDS = 0.2
LINKS = 10
BOUND = 5.0  # metres of error a second of step: 5 mm at 1 ms; a chain 1 m long falls 0.2 m by then


def reference_tip(n, seconds):
    """The tip by a planar chain in absolute angles theta (from +x, turning towards +z), DOP853 at rtol 1e-11.

    M_ij = a_ij cos(theta_i - theta_j), with a_ij = m l^2 (n - max(i, j) - 1/2) off the diagonal.
    """
    links_beyond = np.arange(n - 1, -1, -1)
    pull = MASS * LENGTH * (links_beyond + 0.5)  # m l (links beyond + own half), kg m
    last = np.maximum.outer(np.arange(n), np.arange(n))
    coupling = LENGTH * pull[last]
    coupling[np.diag_indices(n)] = MASS * LENGTH**2 * (links_beyond + 0.25) + INERTIA[1]

    def rates(_, y):
        theta, omega = y[:n], y[n:]
        difference = theta[:, None] - theta[None, :]
        mass = coupling * np.cos(difference)
        force = -(coupling * np.sin(difference)) @ omega**2 + GRAVITY * pull * np.cos(theta)
        return np.concatenate([omega, np.linalg.solve(mass, force)])

    end = solve_ivp(rates, (0, seconds), np.zeros(2 * n), method="DOP853", rtol=1e-11, atol=1e-12).y[:n, -1]
    return np.array([LENGTH * np.cos(end).sum(), 0.0, LENGTH * np.sin(end).sum()])


def tip_error(build, n, dt):
    """Distance of the tip from the reference after SECONDS, in metres."""
    chain = build(n, dt)
    chain.advance(round(SECONDS / dt))
    return float(np.linalg.norm(np.array(chain.tip()) - reference_tip(n, SECONDS)))


def check(n=LINKS):
    """Rows (contestant, joint, error at 1 ms, error at 0.1 ms, agrees), the reference being common."""
    rows = []
    for contestant in contestants():
        for joint in ("ball", "hinge"):
            try:
                coarse, fine = (tip_error(getattr(contestant, joint), n, dt) for dt in (1e-3, 1e-4))
            except Refused:
                continue
            rows.append((contestant.label, joint, coarse, fine, coarse < BOUND * 1e-3 and fine < BOUND * 1e-4))
    return rows


def main():
    x, _, z = reference_tip(LINKS, SECONDS)
    print(f"tip of {LINKS} links after {SECONDS} s: x = {x:.9f}, z = {z:.9f} m")
    print(f"{'contestant':24s} {'joint':6s} {'1 ms: mm off':>14s} {'0.1 ms':>10s}")
    rows = check()
    for label, joint, coarse, fine, agrees in rows:
        print(f"{label:24s} {joint:6s} {1e3 * coarse:14.4f} {1e3 * fine:10.4f}{'' if agrees else '   DISAGREES'}")
    if not all(row[-1] for row in rows):
        raise SystemExit("not all contestants simulate the same chain")


if __name__ == "__main__":
    main()
