"""Do attributions of a convolutional network add up, and at what price?"""

from __future__ import annotations

from pathlib import Path

from processes import run
from report import Section, Table, figure
from settings import Bench

MNIST = Path(__file__).resolve().parents[3] / "shared" / "data" / "mnist"
PICTURES, QUICK_PICTURES = 20, 2
METHODS = {
    "polyfold": "`pf.explain.integrated_gradients`",
    "captum_50": "captum's IntegratedGradients, 50 steps",
    "captum_500": "captum's IntegratedGradients, 500 steps",
    "deep": "shap's DeepExplainer, layers as modules",
    "deep_functional": "shap's DeepExplainer, pools and ReLUs as functions",
}


def section(bench: Bench) -> Section:
    table = Table(["method", "sum off, at worst", "sum off, median", "worst pixel off, median", "CPU-s per picture"])
    count = QUICK_PICTURES if bench.quick else PICTURES
    there = MNIST.exists()
    for method, name in METHODS.items():
        bench.say(f"attributions of {count} pictures: {method}")
        found = run("run_attributions", method, count, MNIST if there else "-")
        assert found is not None
        # DeepLIFT's values are others than integrated gradients by definition.
        pixel = "-" if method in ("polyfold", "deep", "deep_functional") else f"{found['pixel']:.1e}"
        gaps = (f"{found[key]:.1e}" for key in ("largest_gap", "median_gap"))
        table.rows.append([name, *gaps, pixel, figure(found["cpu_seconds"])])
    how = (
        f"The bundled MNIST network (two convolutions with max-pools, 7,090 gates), {count} test pictures against "
        "a black one, each for its largest output, one thread, all in float64. What is off is the sum of all "
        f"pixels' values from f(x) - f(black), whose median is {figure(found['gain'])}; and a picture's worst "
        f"pixel from its exact value, where the largest values are {figure(found['largest_pixel'])} (medians over "
        "pictures, since in white areas pools tie all along the way, and which of the tied pixels is credited is "
        "a convention). captum takes its default points (Gauss-Legendre), picture by picture. DeepExplainer "
        "computes other values (DeepLIFT's), which should have the same sum. It sees only layers that are "
        "modules: where a network calls its pools and ReLUs as functions, as the one of its issue 3938 does, it "
        "takes them for linear, and says so only if its additivity check is on. It explains all ten outputs at "
        "once."
    )
    return Section(
        "Attributions of a convolutional network",
        how,
        table,
        [] if there else ["MNIST is not at hand: the pictures are noise."],
    )
