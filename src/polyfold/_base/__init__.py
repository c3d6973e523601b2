"""What every layer uses.

`clock.py` is the one clock, `apart.py` runs beside it what cannot look at it; `question.py`, `result.py` and
`evidence.py` are what all questions and answers have in common; `inputs.py` and `words.py` read rows, numbers, labels
and names; `faces.py` attaches the public names of packages.
"""
