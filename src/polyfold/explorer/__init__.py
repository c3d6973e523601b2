"""The explorer: a web page over cells, and the server behind it (`polyfold serve`).

`guard.py` lets requests through, `api.py` answers them, `sessions.py` keeps browsers apart. A job goes through
`pool.py` to a worker process (`worker.py`, `tasks.py`), which unfolds in blocks and writes what there is to draw to
files, from which `answers.py` answers. `static/` is the page: modules without a build step.
"""
