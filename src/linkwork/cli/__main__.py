"""python -m linkwork.cli"""

from . import main

main()
