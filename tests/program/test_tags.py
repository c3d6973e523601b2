"""Digests and saved files hold the kinds of forms, operators and ops by fixed tags: they do not change with names."""

from __future__ import annotations

import numpy as np
import pytest

from polyfold.atlas.stored_program import program_from, program_text
from polyfold.network.ops.convolve import Window
from polyfold.network.ops.tags import OPS
from polyfold.program.affine import Structured
from polyfold.program.forms import Applied, Entries, Form, Nothing, Scaled, Stacked, Summed, Taken
from polyfold.program.operators import Convolved, Matrix, Operator, Sparse
from polyfold.program.origins import GateOrigin
from polyfold.program.program import Program, Stage

WIDTHS = (4,)


def of_every_kind() -> dict[str, Form]:
    from scipy.sparse import csr_array

    x = Entries(0, 0, 4)
    window = Window((1,), ((1, 1),), (1,), 1)
    return {
        "Entries": Entries(0, 1, 2),
        "Nothing": Nothing(2),
        "Applied": Applied(Matrix(np.array([[1.0, -2.0, 0.5, 3.0]])), x),
        "Applied, sparse": Applied(Sparse(csr_array(np.array([[0.0, 2.0, 0.0, 1.0]]))), x),
        "Applied, convolved": Applied(Convolved(np.array([[[1.0, 2.0, -1.0]]]), window, (4,), False), x),
        "Scaled": Scaled(np.array([1.0, 2.0, 3.0, 4.0]), x),
        "Taken": Taken(np.array([2, 0]), x),
        "Summed": Summed((x, Scaled(np.array([2.0] * 4), x))),
        "Stacked": Stacked((x, Nothing(1))),
    }


def program_of(form: Form) -> Program:
    n = form.rows
    stage = Stage(Structured(form, np.zeros(n), WIDTHS), np.ones(n), np.zeros(n))
    output = Structured(Entries(1, 0, n), np.zeros(n), (*WIDTHS, n))
    return Program(4, (stage,), output, tuple(GateOrigin("relu", (k,)) for k in range(n)))


DIGESTS = {
    "Entries": "989663f0b65d18080ab45a8d81cd90258951d07902341871be72d5ff054b09dc",
    "Nothing": "b7a03d0d6ded42a2e9ddee95591dce464b7c5e3d871a1ccf69a0c9b20ba2d82a",
    "Applied": "ae5dd2923053500b2b9b121be7aad9c0556d2e0b9ce3fe876e81091625239af0",
    "Applied, sparse": "bd609b12269a2d227af43b0188b3587ce2d5d470e50e9717c3cd74e72ea5b95b",
    "Applied, convolved": "b3cfbeeb33ce4ed818fa29a038382704f86c89d7a0c10cbd531dc837612ad06e",
    "Scaled": "0d081dae6a2052ac1a5c82400a4e6a847ef3ccb83e4660082732df1eaa5373ea",
    "Taken": "82e00cd5d77871cc3fd983671e9d04b473bc67896a930a1c7ee9a133302c8292",
    "Summed": "21fef600ed29b30fd2e66d89d6c8df3516836d653dffd6e233d2ee71c706c900",
    "Stacked": "b33bb160cae2d9ed5720cc144cf61b39709e6caac0404af3b77d0c5e6f1fea6b",
}
OP_TAGS = (
    "Add Clamp Combine Concat Convolution Largest Linear Maximum Minimum Normalise Rectify Reshape Scale Shift "
    "Subtract Take TransposedConvolution"
)


@pytest.mark.parametrize("name", DIGESTS)
def test_digests_are_those_of_0_1(name: str) -> None:
    program = program_of(of_every_kind()[name])
    assert program.digest == DIGESTS[name]
    assert program_from(program_text(program)).digest == DIGESTS[name]


def test_every_form_and_operator_has_a_tag_of_its_own() -> None:
    for kinds in (Form.__subclasses__(), Operator.__subclasses__()):
        assert all("kind" in vars(kind) for kind in kinds)
        assert len({kind.kind for kind in kinds}) == len(kinds)
    assert {form.kind for form in of_every_kind().values()} == {kind.kind for kind in Form.__subclasses__()}


def test_ops_are_stored_by_these_tags() -> None:
    assert sorted(OPS) == OP_TAGS.split()


def test_a_renamed_class_has_the_digest_of_the_old_name() -> None:
    class Multiplied(Scaled):
        pass

    factor = np.array([1.0, 2.0, 3.0, 4.0])
    assert program_of(Multiplied(factor, Entries(0, 0, 4))).digest == DIGESTS["Scaled"]
