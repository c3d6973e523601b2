"""How fast are exact Shapley values, of cells and against a reference, next to shap's explainers?"""

from __future__ import annotations

from processes import run
from report import Section, Table, figure
from settings import Bench

# (scope, features); the quick run takes the first ones of each.
CASES = (("cell", (4, 6, 8, 10, 12)), ("baseline", (4, 6, 8, 10, 12)))
QUICK = 2


def section(bench: Bench) -> Section:
    table = Table(
        [
            "scope",
            "features",
            "points",
            "polyfold: values/s",
            "error",
            "ExactExplainer: values/s",
            "error",
            "KernelExplainer: values/s",
            "error",
            "times as fast as Exact",
            "as Kernel",
        ]
    )
    least: dict[str, float] = {}
    for scope, features in CASES:
        for n in features[: QUICK if bench.quick else None]:
            bench.say(f"Shapley values, scope {scope}, {n} features")
            found = run("run_shapley", scope, n, bench.repeat_seconds)
            assert found is not None
            ours, exact, kernel = (found[name] for name in ("polyfold", "exact", "kernel"))
            ratio = ours["values_a_second"] / exact["values_a_second"]
            least[scope] = min(ratio, least.get(scope, ratio))
            table.rows.append(
                [
                    scope,
                    f"{n}",
                    figure(found["points"]),
                    *(
                        shown
                        for each in (ours, exact, kernel)
                        for shown in (figure(each["values_a_second"]), f"{each['error']:.1e}")
                    ),
                    *(f"{ours['values_a_second'] / each['values_a_second']:,.1f} x" for each in (exact, kernel)),
                ]
            )
    how = (
        "Random networks with Gaussian weights and one output, one thread, values per CPU-second. For `cell` the "
        "hidden layers are 8 and 4 gates, and an input is explained against those of 20,000 background points "
        "that lie in its own cell (column points: how many, on average). polyfold explains 100,000 inputs in one "
        "call, finding cells included; shap is given each cell's affine model and points, and explains one input "
        "after another. For `baseline` the hidden layers are 32 and 32 gates, there is one reference point, and "
        "polyfold explains 2,000 inputs in one call. KernelExplainer gets as many samples as there are coalitions "
        "and no regularisation, so that it is exact. Building explainers and the first call, which compiles, are "
        "not timed. Errors are the largest ones on three inputs against the definition, summed in long doubles."
    )
    notes = [f"The least ratio to ExactExplainer is {figure(ratio)} for `{scope}`." for scope, ratio in least.items()]
    return Section("Shapley values", how, table, notes)
