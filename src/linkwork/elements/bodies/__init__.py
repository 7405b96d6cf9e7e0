"""Bodies: what moves. One file a kind: the element, its mathematics (CasADi), and its numbers as built and read.

World frame, SI units; arrays are float64 once made. `position` is the centre of mass (RigidBody: unless `com` says otherwise)
and `velocity` is that of this point.
"""
