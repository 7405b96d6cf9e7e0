"""<safety_controller> of URDF: what holds a joint back beyond its soft limits, as a spring and damper.

A controller that obeys it bounds speeds by -k_position (x - soft limit), and efforts by -k_velocity (v - that bound). A motor
that pushes as hard as it may is then held as by a spring of k_velocity k_position and a damper of k_velocity.
"""

from linkwork.elements import JointLimit
from linkwork.formats.numbers import number, shown


def add(building, spec, joint, limits):
    """The soft stop of a joint where limits are soft; else a remark."""
    node = spec.safety
    if node is None:
        return
    what = f'<safety_controller> of joint "{shown(spec.name)}"'
    if limits != "soft":
        why = 'it is for a controller, and linkwork has none of it; limits="soft" takes it for a spring and damper'
        building.reading.remark(node.line, what, why)
        return
    words = ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")
    lower, upper, position, velocity = (number(building.reading, node, word, 0.0) for word in words)
    if not (lower < upper and position > 0.0 and velocity > 0.0):
        building.reading.remark(node.line, what, "it bounds nothing: it needs soft limits, k_position and k_velocity")
        return
    name = building.free_name(f"{joint.name} safety")
    building.add(node.line, JointLimit, joint, lower, upper, stiffness=position * velocity, damping=velocity, name=name)
