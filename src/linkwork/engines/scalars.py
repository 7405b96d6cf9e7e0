"""Offsets of the scalars of a workspace that compiled steps read and write (`symbolic/views.py` says what each is)."""

from linkwork.symbolic.views import GLOBALS

TIME = GLOBALS.offset("time")
HALF = GLOBALS.offset("half")
STEP = GLOBALS.offset("step")
KICK = GLOBALS.offset("kick")
POWER_WEIGHT = GLOBALS.offset("share")
EXTRAPOLATE = GLOBALS.offset("extrapolate")
WORST = GLOBALS.offset("worst")
WORK_DONE = GLOBALS.offset("work")
SUBSTEP = GLOBALS.offset("pace")  # of a step that is made in substeps, in parts of it; of an adaptive integrator in seconds
GOOD_SUBSTEPS = GLOBALS.offset("calm")  # that were made since the substep changed
FAULT = GLOBALS.offset("fault")
ITERATIONS = GLOBALS.offset("iterations")
SUBSTEPS = GLOBALS.offset("parts")  # of the last step
SOFTNESS = GLOBALS.offset("softness")
