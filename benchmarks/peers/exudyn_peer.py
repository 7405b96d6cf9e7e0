"""Exudyn: four-bar linkages in a row, of planar bodies and revolute joints."""

import math
import warnings


class FourBars:
    """n of them, 2 n + 1 uniform rods of 1 m and 1 kg, upright, the upper pins at `speed` (m/s).

    Its implicit integrator, generalised alpha, takes constraints at position level; steps of h seconds.
    """

    def __init__(self, n, speed=1.0, h=1e-3):
        import exudyn

        self._exudyn, self.h = exudyn, h
        self._container = exudyn.SystemContainer()
        self._system = self._container.AddSystem()
        self._pins = []  # markers of the two points of each joint
        with warnings.catch_warnings():  # its own names change from version to version
            warnings.simplefilter("ignore", DeprecationWarning)
            self._build(n, speed)
            self._system.Assemble()
            self._settings = self._fixed_settings()
        self.seconds = 0.0

    def _build(self, n, speed):
        from exudyn import itemInterface as items

        mbs = self._system
        ground = mbs.AddObject(items.ObjectGround(referencePosition=[0, 0, 0]))
        posts = [self._rod((k, 0.5, math.pi / 2), (speed / 2, 0, -speed)) for k in range(n + 1)]
        for k, post in enumerate(posts):
            self._pin(ground, (k, 0), post, (-0.5, 0))
        for k in range(n):
            bar = self._rod((k + 0.5, 1, 0), (speed, 0, 0))
            self._pin(posts[k], (0.5, 0), bar, (-0.5, 0))
            self._pin(posts[k + 1], (0.5, 0), bar, (0.5, 0))
        position = self._exudyn.OutputVariableType.Position
        self._sensor = mbs.AddSensor(items.SensorBody(bodyNumber=posts[0], localPosition=[0.5, 0, 0], storeInternal=True,
                                                      outputVariableType=position))  # fmt: skip

    def _rod(self, place, velocity):
        from exudyn import itemInterface as items

        mbs = self._system
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*place], initialVelocities=[*velocity]))
        body = mbs.AddObject(items.ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
        middle = mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[0, 0, 0]))
        mbs.AddLoad(items.LoadForceVector(markerNumber=middle, loadVector=[0, -9.81, 0]))
        return body

    def _pin(self, a, on_a, b, on_b):
        from exudyn import itemInterface as items

        markers = [self._system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[*local, 0]))
                   for body, local in ((a, on_a), (b, on_b))]  # fmt: skip
        self._system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
        self._pins.append(((a, on_a), (b, on_b)))

    def _fixed_settings(self):
        settings = self._exudyn.SimulationSettings()
        settings.timeIntegration.verboseMode = 0
        settings.displayStatistics = False
        settings.solutionSettings.writeSolutionToFile = False
        settings.linearSolverType = self._exudyn.LinearSolverType.EigenSparse
        settings.timeIntegration.newton.useModifiedNewton = True
        return settings

    def step(self, k):
        """k steps from the start."""
        self.run(k * self.h, k * self.h)

    def reset(self):
        """Every run begins at the start."""

    def run(self, seconds, every):
        """Times and places (outputs + 1, 3) of the first upper pin: t, x, height."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            settings = self._settings
            settings.timeIntegration.numberOfSteps = round(seconds / self.h)
            settings.timeIntegration.endTime = seconds
            settings.solutionSettings.sensorsWritePeriod = every
            self._system.SolveDynamic(settings, solverType=self._exudyn.DynamicSolverType.GeneralizedAlpha)
        return self._system.GetSensorStoredData(self._sensor)[:, :3]

    def tip(self):
        return tuple(self._system.GetSensorStoredData(self._sensor)[-1, 1:3])

    def off(self):
        """The largest distance between pins that belong together, m."""
        kind = self._exudyn.OutputVariableType.Position

        def place(body, local):
            return self._system.GetObjectOutputBody(body, kind, [*local, 0])

        return max(float(abs(place(*one) - place(*other)).max()) for one, other in self._pins)
