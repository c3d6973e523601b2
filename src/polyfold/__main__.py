"""python -m polyfold: the same as the command `polyfold`."""

from polyfold.views.cli import main

main()
