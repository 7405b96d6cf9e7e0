"""witkin97: "Constrained Dynamics", the bead on a wire, equations 1 to 11, tinkertoys and conjugate gradients."""
