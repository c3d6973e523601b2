"""The explorer's interface: addresses, what is asked and what is answered. docs/explorer.md describes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from polyfold.errors import PolyfoldError
from polyfold.explorer import answers, data_points
from polyfold.explorer.guard import Guard, Rules, TooMuchError, too_large
from polyfold.explorer.pool import Job
from polyfold.explorer.requested_domain import domain_of
from polyfold.explorer.sessions import Known, Session
from polyfold.explorer.state import State
from polyfold.explorer.uploads import begin_reading, finish_reading, read_data

COOKIE = "polyfold_session"
STATIC = Path(__file__).parent / "static"
# How often somebody who looks on is told what is new, in seconds; and how long at most nothing is sent.
_LOOK, _SILENCE = 0.1, 10.0

Handler = Callable[["Asked"], Awaitable[Any]]


class Asked:
    """One request within its session."""

    def __init__(self, request: Request, state: State, session: Session) -> None:
        self.request, self.state, self.session = request, state, session

    async def json(self) -> dict[str, Any]:
        try:
            found = await self.request.json()
        except (ValueError, RecursionError):
            raise PolyfoldError("the request holds no JSON") from None
        if not isinstance(found, dict):
            raise PolyfoldError("the request must hold a JSON object")
        return found

    def number(self, name: str, otherwise: Any = None, kind: Callable[[str], Any] = int) -> Any:
        text = self.request.query_params.get(name)
        if text is None:
            if otherwise is ...:
                raise PolyfoldError(f"?{name}= is missing: it must be a number")
            return otherwise
        try:
            return kind(text)
        except ValueError:
            raise PolyfoldError(f"?{name}={text[:60]} is not a number of the kind that is asked for") from None

    @property
    def job(self) -> Job:
        found = self.session.jobs.get(self.request.path_params["job"])
        if found is None:
            raise HTTPException(404, "there is no such job in this session; the oldest ones are forgotten")
        return found

    @property
    def opened(self) -> answers.Opened:
        """What a finished job has found."""
        job = self.job
        if job.result is None or job.task["kind"] != "unfold":
            raise HTTPException(409, f"this job has no cells to show: its state is {job.state!r}")
        return self.state.shelf.open(job.task["folder"])


# -- networks


async def list_networks(asked: Asked) -> Any:
    known = [*asked.state.networks.values(), *asked.session.networks.values()]
    return {"networks": [each.to_json() for each in known]}


async def upload_network(asked: Asked) -> Any:
    name, content = await _file(asked)
    state = asked.state
    reading = await run_in_threadpool(begin_reading, state.sessions, asked.session, name, content, state.limits)
    # Waiting for a worker can take minutes: meanwhile neither a thread nor what was sent is held.
    del content
    await _settled(reading.job)
    return (await run_in_threadpool(finish_reading, asked.session, reading)).to_json()


async def remove_network(asked: Asked) -> Any:
    with asked.session.lock:
        known = asked.session.networks.pop(asked.request.path_params["network"], None)
    if known is None:
        raise HTTPException(404, "there is no such upload in this session")
    if known.source.file is not None:
        Path(known.source.file).unlink(missing_ok=True)
    return {"removed": known.id}


async def list_recordings(asked: Asked) -> Any:
    known = [*asked.state.networks.values(), *asked.session.networks.values()]
    return {"recordings": [each.to_json() for each in known if each.facts["kind"] == "recording"]}


async def _settled(job: Job) -> None:
    loop, settled = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # the server has ended before the job
            loop.call_soon_threadsafe(settled.set)

    job.call_when_settled(tell)
    await settled.wait()


async def _file(asked: Asked) -> tuple[str, bytes]:
    try:
        form = await asked.request.form(max_files=1, max_fields=10)
    except (HTTPException, LookupError, ValueError):  # what starlette and its parser say of a form that is none
        raise PolyfoldError('the request holds no file: send multipart/form-data with a part "file"') from None
    async with form_closed(form):
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise PolyfoldError('the request holds no file: send multipart/form-data with a part "file"')
        return file.filename or "unnamed", await file.read()


@asynccontextmanager
async def form_closed(form: Any) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await form.close()


# -- jobs


async def start_job(asked: Asked) -> Any:
    body = await asked.json()
    known = asked.state.find(asked.session, body.get("network"))
    snapshot = _snapshot(known, body.get("snapshot"))
    domain = domain_of(body.get("domain"), known.facts)  # whatever is wrong with it is said at once
    job = asked.state.sessions.start(
        asked.session,
        {
            "kind": "unfold",
            "network": known.id,
            "source": known.source.to_json(),
            "snapshot": snapshot,
            "domain": domain,
        },
    )
    return {"job": job.id}


async def compare(asked: Asked) -> Any:
    body = await asked.json()
    jobs = []
    for name in ("a", "b"):
        job = asked.session.jobs.get(str(body.get(name)))
        if job is None or job.task["kind"] != "unfold":
            raise PolyfoldError(f'"{name}": {body.get(name)!r} is not a job of this session that unfolds a network')
        jobs.append(job)
    a, b = jobs
    if a.task["domain"] != b.task["domain"]:
        raise PolyfoldError("the two jobs look at different domains: unfold both networks on the same one")
    task: dict[str, Any] = {"kind": "compare", "domain": a.task["domain"]}
    for name, job in zip(("a", "b"), jobs, strict=True):
        task[name] = {key: job.task[key] for key in ("source", "snapshot")}
    return {"job": asked.state.sessions.start(asked.session, task).id}


def _snapshot(known: Known, asked_for: Any) -> int | None:
    if asked_for is None:
        return None
    steps = known.facts.get("steps")
    if steps is None:
        raise PolyfoldError('"snapshot" is for recordings, and this network is none')
    if not isinstance(asked_for, int) or isinstance(asked_for, bool) or not 0 <= asked_for < len(steps):
        raise PolyfoldError(f'"snapshot": {asked_for!r} must be a whole number from 0 to {len(steps) - 1}')
    return asked_for


async def job_state(asked: Asked) -> Any:
    return describe(asked.job)


async def list_jobs(asked: Asked) -> Any:
    return {"jobs": [describe(job) for job in list(asked.session.jobs.values()) if job.task["kind"] != "read"]}


async def cancel_job(asked: Asked) -> Any:
    job = asked.job
    # Not among the threads that answer questions: when those are busy, ending a job must still be possible.
    await asyncio.to_thread(job.stop, "cancelled")
    return describe(job)


def describe(job: Job) -> dict[str, Any]:
    """A job's state; what it found is described where it did."""
    found: dict[str, Any] = {
        "job": job.id,
        "kind": job.task["kind"],
        "state": job.state,
        "cells": job.cells,
        "seconds": round(job.seconds, 3),
    }
    for key in ("network", "snapshot", "domain"):
        if job.task.get(key) is not None:
            found[key] = job.task[key]
    if job.error is not None:
        found["error"] = job.error
    if job.result is not None:
        found["certificate"] = job.result.get("certificate")
        found["result"] = job.result
    return found


async def events(asked: Asked) -> Any:
    """Server-sent events until the job has ended."""
    return StreamingResponse(_events(asked.job), media_type="text/event-stream")


async def _events(job: Job) -> AsyncIterator[str]:
    sent, silent = 0, 0.0
    while not job.finished:
        # Settling a job empties the list: what is left of it is then read as pages.
        new = job.events[sent:]
        sent += len(new)
        for kind, text in new:
            yield f"event: {kind}\ndata: {text}\n\n"
        silent = 0.0 if new else silent + _LOOK
        if silent >= _SILENCE:
            silent = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK)
    yield f"event: end\ndata: {json.dumps(describe(job))}\n\n"


# -- what jobs found


async def cells(asked: Asked) -> Any:
    first, count = asked.number("from", 0), asked.number("count", answers.MOST_IN_A_PAGE)
    if first < 0 or not 0 < count <= answers.MOST_IN_A_PAGE:
        raise PolyfoldError(f"from must be 0 or larger, and count between 1 and {answers.MOST_IN_A_PAGE:,}")
    return await run_in_threadpool(answers.page_of_cells, asked.opened, first, count, asked.number("output"))


async def one_cell(asked: Asked) -> Any:
    try:
        number = int(asked.request.path_params["number"])
    except ValueError:
        raise PolyfoldError(f"{asked.request.path_params['number'][:60]!r} is not the number of a cell") from None
    return await _about(asked, lambda opened: number)


async def cell_at(asked: Asked) -> Any:
    dim = asked.opened.cells["points"].shape[1]
    point = [asked.number(name, ..., float) for name in ("x", "y")[:dim]]
    return await _about(asked, lambda opened: answers.cell_at(opened, point))


async def _about(asked: Asked, number: Callable[[answers.Opened], int]) -> Any:
    opened, data = asked.opened, asked.session.data

    def answer() -> dict[str, Any]:
        cell = number(opened)
        if not 0 <= cell < len(opened.atlas):
            raise HTTPException(404, "there is no cell here: the point lies outside, or the number is too large")
        found = answers.about_cell(opened, cell)
        found["data"] = None if data is None else data_points.inside(opened.atlas, cell, data)
        return found

    return await run_in_threadpool(answer)


async def layers(asked: Asked) -> Any:
    return await run_in_threadpool(answers.layers, asked.opened)


async def boundary(asked: Asked) -> Any:
    return await run_in_threadpool(answers.boundary, asked.opened)


async def class_parts(asked: Asked) -> Any:
    return await run_in_threadpool(answers.class_parts, asked.opened)


async def export_csv(asked: Asked) -> Any:
    opened, job, state = asked.opened, asked.job, asked.state
    path = Path(job.task["folder"]) / "cells.csv"
    # One table at a time is written, and each only once; who waits for it holds no thread.
    async with state.exporting:
        if not path.exists():
            await run_in_threadpool(answers.write_csv, opened, path)
            await run_in_threadpool(state.sessions.files_have_grown, job)
    return FileResponse(path, filename=f"cells-{job.id}.csv", media_type="text/csv")


async def export_parquet(asked: Asked) -> Any:
    asked.opened  # noqa: B018 - refuses jobs without cells
    path = Path(asked.job.task["folder"]) / "atlas.parquet"
    return FileResponse(path, filename=f"atlas-{asked.job.id}.parquet", media_type="application/vnd.apache.parquet")


# -- data


async def upload_data(asked: Asked) -> Any:
    _, content = await _file(asked)
    asked.session.data = await run_in_threadpool(read_data, content, asked.state.limits)
    asked.state.sessions.keep(asked.session)
    return data_points.describe(asked.session.data)


async def show_data(asked: Asked) -> Any:
    if asked.session.data is None:
        raise HTTPException(404, "no data were uploaded in this session")
    return data_points.describe(asked.session.data)


async def remove_data(asked: Asked) -> Any:
    asked.session.data = None
    return {"removed": True}


async def data_in_job(asked: Asked) -> Any:
    """Where the data lie in a job's view."""
    if asked.session.data is None:
        raise HTTPException(404, "no data were uploaded in this session")
    return await run_in_threadpool(data_points.in_view, asked.opened.atlas, asked.session.data)


ROUTES: list[tuple[str, str, Handler]] = [
    ("GET", "/api/networks", list_networks),
    ("POST", "/api/networks", upload_network),
    ("DELETE", "/api/networks/{network}", remove_network),
    ("GET", "/api/recordings", list_recordings),
    ("GET", "/api/jobs", list_jobs),
    ("POST", "/api/jobs", start_job),
    ("GET", "/api/jobs/{job}", job_state),
    ("DELETE", "/api/jobs/{job}", cancel_job),
    ("GET", "/api/jobs/{job}/events", events),
    ("GET", "/api/jobs/{job}/cells", cells),
    ("GET", "/api/jobs/{job}/cell/{number}", one_cell),
    ("GET", "/api/jobs/{job}/at", cell_at),
    ("GET", "/api/jobs/{job}/layers", layers),
    ("GET", "/api/jobs/{job}/boundary", boundary),
    ("GET", "/api/jobs/{job}/classes", class_parts),
    ("GET", "/api/jobs/{job}/data", data_in_job),
    ("GET", "/api/jobs/{job}/export.csv", export_csv),
    ("GET", "/api/jobs/{job}/export.parquet", export_parquet),
    ("POST", "/api/compare", compare),
    ("POST", "/api/data", upload_data),
    ("GET", "/api/data", show_data),
    ("DELETE", "/api/data", remove_data),
]


def make_app(state: State, rules: Rules) -> Any:
    """The application: the page, the interface, and the guard in front of both. It ends the workers when it ends."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await run_in_threadpool(state.close)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    async def stopped_reading(request: Request, error: Exception) -> Response:
        return too_large(rules.upload)

    routes = [Route(path, _within_session(state, handler), methods=[method]) for method, path, handler in ROUTES]
    app = Starlette(
        routes=[*routes, Route("/", page), Mount("/static", StaticFiles(directory=STATIC))],
        lifespan=lifespan,
        exception_handlers={HTTPException: _said, PolyfoldError: _refused, TooMuchError: stopped_reading},
    )
    return Guard(app, rules)


def _within_session(state: State, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        session = state.sessions.find(request.cookies.get(COOKIE))
        new = session is None
        if session is None:
            session = state.sessions.new()
        found = await handler(Asked(request, state, session))
        response = found if isinstance(found, Response) else JSONResponse(found)
        if new:
            response.set_cookie(COOKIE, session.id, httponly=True, samesite="strict")
        return response

    return answer


async def _said(request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


async def _refused(request: Request, error: PolyfoldError) -> Response:
    return JSONResponse({"error": " ".join(str(error).split())}, 422)
