"""polyfold check: saved results, asked again; what was changed, and what cannot be asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polyfold as pf
from polyfold.datasets import iris
from polyfold.network.write.save import save as save_network


def save(path, said):
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def lipschitz():
    """The Lipschitz constant of the Iris network on a box, in another norm, as JSON."""
    return pf.stats.lipschitz(iris(), pf.box(0, 8), norm=float("inf")).to_json()


@pytest.fixture(scope="module")
def certified():
    atlas = pf.unfold(iris(), pf.box(0, 8))
    return pf.stats.lipschitz(atlas.with_certificate(pf.certify(atlas)), cells=[3, 4]).to_json()


def test_the_same_answer(run, tmp_path, lipschitz):
    assert lipschitz["asked"]["options"]["norm"] == "infinity" and not lipschitz["asked"]["left_out"]
    path = save(tmp_path / "result.json", lipschitz)
    code, out, err = run("check", path, "iris", "--json")
    said = json.loads(out)
    assert (code, err, said["verdict"], said["differences"]) == (0, "", "yes", [])
    assert (said["kind"], said["question"], said["evidence"]["level"]) == ("Check", "stats.lipschitz", "checked")
    code, out, _ = run("check", path, "iris")
    assert code == 0 and "THE SAME" in out and "stats.lipschitz" in out


def test_what_was_proved_is_proved_again(run, tmp_path, certified):
    assert certified["evidence"]["proved"]
    code, out, _ = run("check", save(tmp_path / "a.json", certified), "iris", "--json")
    said = json.loads(out)
    assert (code, said["evidence"]["proved"], said["evidence"]["level"]) == (0, True, "certified")


def test_an_answer_that_was_changed(run, tmp_path, lipschitz):
    path = save(tmp_path / "a.json", lipschitz | {"value": lipschitz["value"] * (1 + 1e-9)})
    code, out, _ = run("check", path, "iris", "--json")
    said = json.loads(out)
    assert (code, said["verdict"], [each["where"] for each in said["differences"]]) == (1, "no", ["value"])
    assert said["differences"][0]["now"] == lipschitz["value"]
    assert run("check", path, "iris", "--tolerance", 1e-3)[0] == 0
    code, out, _ = run("check", path, "iris")
    assert code == 1 and "NOT THE SAME" in out and "value was" in out
    shorter = lipschitz | {"of_cells": lipschitz["of_cells"][1:]}
    code, out, _ = run("check", save(path, shorter), "iris", "--json")
    assert (code, json.loads(out)["differences"][0]["where"]) == (1, "the number of of_cells")


def test_a_claim_that_was_added(run, tmp_path, lipschitz):
    evidence = lipschitz["evidence"] | {"proved": True}
    code, out, _ = run("check", save(tmp_path / "a.json", lipschitz | {"evidence": evidence}), "iris", "--json")
    assert code == 1 and json.loads(out)["differences"][0]["where"] == "evidence.proved"


def test_another_network_and_another_domain(run, tmp_path, lipschitz):
    pytest.importorskip("onnx")
    other = tmp_path / "other.onnx"
    save_network(pf.load([(np.eye(2), np.zeros(2)), (np.ones((3, 2)), np.zeros(3))]), other)
    path = save(tmp_path / "a.json", lipschitz)
    code, out, _ = run("check", path, other, "--json")
    assert code == 1 and json.loads(out)["differences"][0]["where"] == "evidence.network_digest"
    domain = json.loads(json.dumps(lipschitz["evidence"]["domain"]))
    domain["input_offsets"][0] += 1
    changed = lipschitz | {"evidence": lipschitz["evidence"] | {"domain": domain}}
    code, out, _ = run("check", save(path, changed), "iris", "--json")
    assert code == 1 and json.loads(out)["differences"][0]["where"] == "evidence.domain_digest"


def test_too_little_time(run, tmp_path, lipschitz):
    code, _, _ = run("check", save(tmp_path / "a.json", lipschitz), "iris", "--max-seconds", 1e-9)
    assert code == 3


def asked(said, **changed):
    return said | {"asked": said["asked"] | changed}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda said: said | {"schema": "polyfold/0"}, "its schema is 'polyfold/0'"),
        (lambda said: [said], "its schema is None"),
        (lambda said: said | {"asked": None}, "does not say what was asked"),
        (lambda said: said | {"kind": "Atlas", "asked": None}, "holds an Atlas"),
        (lambda said: asked(said, left_out=["cells"]), "JSON could not hold what stats.lipschitz was given as cells"),
        (lambda said: asked(said, options={"cells": {"a": 1}}), "given as cells"),
        (lambda said: asked(said, question="stats.lipshitz"), "'stats.lipshitz', which is no question"),
        (lambda said: asked(said, question="datasets.iris.__init__"), "no question that polyfold knows"),
        (lambda said: asked(said, question="open"), "no question that polyfold knows"),
        (lambda said: asked(said, options={"of_what": 1}), "no option of_what"),
        (lambda said: asked(said, question=["stats"]), "in a way that can be read"),
        (lambda said: said | {"complete": False, "stopped_by": "max_cells"}, "incomplete (stopped by max_cells)"),
        (lambda said: said | {"evidence": said["evidence"] | {"domain": {"input_dim": "x"}}}, "no domain"),
    ],
)
def test_what_cannot_be_asked_again(run, tmp_path, lipschitz, change, words):
    code, out, err = run("check", save(tmp_path / "result.json", change(lipschitz)), "iris")
    assert (code, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1
    assert words in err


def test_files_that_are_no_results(run, tmp_path):
    for name, content in (("absent.json", None), ("text.json", "hello"), ("deep.json", "[" * 100_000)):
        if content is not None:
            (tmp_path / name).write_text(content)
        code, out, err = run("check", tmp_path / name, "iris")
        assert (code, out) == (2, "") and name in err and "cannot be read as JSON" in err


def test_a_report_has_no_proof_of_its_own(run, tmp_path):
    said = pf.report(iris(), domain=pf.box(0, 8)).to_json()
    assert not said["evidence"]["proved"]
    code, _, err = run("check", save(tmp_path / "a.json", said), "iris")
    assert code == 2 and "what report gives cannot be proved again as one" in err


def test_a_model_is_needed(run, tmp_path, lipschitz):
    code, _, err = run("check", save(tmp_path / "a.json", lipschitz))
    assert code == 2 and "is about a model" in err


def test_a_summary_of_cells_is_no_answer_to_a_question(run, tmp_path):
    pytest.importorskip("pyarrow")
    run("unfold", "iris", "--box", 0, 8, "--out", tmp_path)
    code, _, err = run("check", tmp_path / "summary.json", "iris")
    assert code == 2 and "an Atlas that does not say what was asked" in err
