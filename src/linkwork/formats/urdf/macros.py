"""Xacro: macros of URDF are expanded by xacrodoc, without ROS."""

from linkwork.elements.core import checks
from linkwork.formats.paths import found_packages


def expanded(reading, packages, roots, arguments):
    """The URDF that a xacro file makes, as text. `arguments`: of its <xacro:arg>, by name."""
    try:
        import xacrodoc
    except ImportError:
        reading.fail(None, "xacro files are expanded by xacrodoc, which is not installed", 'pip install "linkwork[xacro]"')
    if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
        reading.fail(None, f"arguments is {checks.show(arguments)}", 'give them by name, such as {"arm": "left"}')
    words = {name: str(value) for name, value in arguments.items()}
    known = found_packages(roots) | {name: str(folder) for name, folder in packages.items()}
    try:
        xacrodoc.packages.update_package_cache(known)
        found: str = xacrodoc.XacroDoc.from_file(str(reading.path), subargs=words).dom.toprettyxml(indent=" ")
    except Exception as error:  # xacro raises errors of its own, of Python and of expat, for what a file says
        text = " ".join(str(error).split()) or type(error).__name__
        reading.fail(
            None, f"xacro cannot expand it ({text[:200]})", "mend that; give arguments={...}, or packages= for $(find ...)"
        )
    finally:
        xacrodoc.packages.reset()
    return found
