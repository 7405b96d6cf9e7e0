"""Joints: what two bodies keep in common. One file a joint: the element, its rows, its coordinates and its limits."""

from linkwork.util.lazy_names import lazy_names

WHERE = {
    "AxisJoint": "linkwork.elements.joints.axis",
    "Ball": "linkwork.elements.joints.ball",
    "Cylindrical": "linkwork.elements.joints.cylindrical",
    "Hinge": "linkwork.elements.joints.hinge",
    "Joint": "linkwork.elements.core.joint",
    "Planar": "linkwork.elements.joints.planar",
    "Screw": "linkwork.elements.joints.screw",
    "Slider": "linkwork.elements.joints.slider",
    "Universal": "linkwork.elements.joints.universal",
    "Weld": "linkwork.elements.joints.weld",
}
"""Name -> the module that has it; pickles of earlier versions name this package."""

__getattr__, __dir__ = lazy_names(__name__, WHERE)
