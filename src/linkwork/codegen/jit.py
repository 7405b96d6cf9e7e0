"""What drivers are made with: numba's functions (`compiled`), or plain Python in their place (`interpreted`).

`LINKWORK_KERNELS=casadi` runs every kernel as its CasADi function and every driver as plain Python: slow, and the
same numbers to rounding. It is oracle, debugger and coverage in one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linkwork.codegen.trace import OPERANDS

INTERPRETED = os.environ.get("LINKWORK_KERNELS", "llvm") == "casadi"
LANES = 1 if INTERPRETED else 4  # states that one kernel takes at once

if TYPE_CHECKING or not INTERPRETED:
    from linkwork.codegen.compiled import (
        address_for,
        call_compiled,
        callback_address,
        check_interrupt,
        compiled_address,
        compiled_routine_address,
        entry,
        jit,
        jit_exactly,
        jit_inline,
        jit_inner,
        kernel_table,
        opened,
        routine_address,
        sweep,
        sweep_some,
        uncounted,
    )
else:
    from linkwork.codegen.interpreted import (
        call_compiled,
        check_interrupt,
        compiled_address,
        compiled_routine_address,
        entry,
        jit,
        jit_exactly,
        jit_inline,
        jit_inner,
        kernel_table,
        opened,
        routine_address,
        sweep,
        sweep_some,
        uncounted,
    )

__all__ = [
    "INTERPRETED",
    "LANES",
    "OPERANDS",
    "address_for",
    "call_compiled",
    "callback_address",
    "check_interrupt",
    "compiled_address",
    "compiled_routine_address",
    "entry",
    "jit",
    "jit_exactly",
    "jit_inline",
    "jit_inner",
    "kernel_table",
    "opened",
    "routine_address",
    "sweep",
    "sweep_some",
    "uncounted",
]
