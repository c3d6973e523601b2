"""python -m polyfold: the same as the command `polyfold`."""

from polyfold.cli.main import main

main()
