"""Machine code: traces of CasADi expressions as LLVM, drivers by numba, both kept between processes."""
