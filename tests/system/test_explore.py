"""The explorer in a real browser: each slider is moved, each number compared with the library's."""

import base64
import json
import math
import time

import numpy as np
import pytest
import torch
from PIL import Image

from lff.experiments.jobs.gridworlds import maze
from lff.nn import Fourier, MatchedMLP, MLPTrunk, NetConfig
from lff.ntk import circle, circle_spectrum, deep_ntk, fourier_ntk, predict, spectrum
from lff.report import write_page
from lff.report.explorer import explorer_page, read_critics, read_tour
from lff.tabular import FQI, FQIConfig, Instruments
from tests.system.browser import Browser

pytestmark = pytest.mark.system

PHONE = 390
POINTS, SAMPLES = 256, 64
STRIDE = POINTS // SAMPLES


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "explore.html"
    write_page(path, explorer_page())
    return path


@pytest.fixture
def opened(page, browser):
    browser.open(page)
    yield browser
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


def move(browser, **controls):
    """Move controls as a hand would, and return what the page then shows."""
    for name, value in controls.items():
        field = "checked" if isinstance(value, bool) else "value"
        browser.evaluate(
            f"(() => {{ const e = document.getElementById('{name}'); e.{field} = "
            f"{json.dumps(value)}; e.dispatchEvent(new Event('input', {{bubbles: true}})) }})()"
        )
    return numbers(browser)


def numbers(browser):
    return json.loads(browser.evaluate("document.getElementById('numbers').textContent"))


def kernels(state, points=POINTS):
    """Return the library's kernels of the networks of the page, each over its k(0)."""
    x = circle(points, radius=state["radius"])
    front = Fourier(
        fourier_dim=state["fourierDim"],
        sigma=float(state["sigma"]),
        trainable=state["trained"],
        concat_input=state["concat"],
    )
    deep = {"hidden_layers": state["depth"]}
    found = {
        "lff": deep_ntk(x, front=front, **deep).ntk,
        "mlp": deep_ntk(x, **deep).ntk,
        "lemma": fourier_ntk(x, x, 2 * math.pi * state["sigma"]),
    }
    return {name: (kernel / kernel[0, 0], kernel[0, 0].item()) for name, kernel in found.items()}


def close(shown, expected, *, relative=1e-6, absolute=0.0):
    np.testing.assert_allclose(shown, np.asarray(expected), rtol=relative, atol=absolute)


def compare(shown):
    """Hold everything that the page shows to the library."""
    state = shown["state"]
    for name, (kernel, top) in kernels(state).items():
        of = shown[name]
        close(of["top"], top)
        # the library's own rounding: its 1 - cos has an error of 1e-16, and an angle its root
        close(of["kernel"], kernel[0], absolute=1e-8)
        found = circle_spectrum(kernel, strict=True).eigenvalues / POINTS
        close(of["spectrum"], found, absolute=1e-11)
        share, times = found / found.max(), np.array(of["times"], dtype=float)
        seen = share > 1e-7
        close(
            (times * share.numpy())[seen],
            np.ones(int(seen.sum())),
            relative=1e-6,
            absolute=1e-11 / share[seen].min(),
        )
        if name != "lemma":
            compare_fit(of, kernel, shown)
    if state["concat"]:
        close(shown["floor"], 1 / (2 * math.pi * math.sqrt(state["fourierDim"] / 2)))
    else:
        assert shown["floor"] is None


def compare_fit(of, kernel, shown):
    # outputs are of size 1; the same rounding, times the training time, is what they may differ by
    y = torch.tensor(shown["samples"], dtype=torch.float64)
    trained = kernel[::STRIDE, ::STRIDE]
    found = spectrum(trained)
    rate = 1 / found.eigenvalues.max().item()
    time = shown["state"]["time"]
    left = predict(trained, y, torch.tensor([time], dtype=torch.float64), lr=rate).residuals[0]
    close(np.array(of["fit"])[::STRIDE], y - left, absolute=1e-6)
    values, vectors = found.eigenvalues.clamp_min(1e-300), found.eigenvectors
    learned = vectors @ ((-torch.expm1(-rate * time * values) / values) * (vectors.mT @ y))
    everywhere = kernel[:, ::STRIDE] @ learned
    close(of["fit"], everywhere, absolute=1e-6)
    close(of["trainError"], left.square().mean().sqrt(), absolute=1e-6)
    clean = torch.tensor(shown["clean"], dtype=torch.float64)
    close(of["error"], (everywhere - clean).square().mean().sqrt(), absolute=1e-6)


MOVES = {
    "sigma": (-4, -3, -2, -1, -0.5, 0, 1),
    "fourierDim": (3, 6, 12),
    "depth": (1, 2, 3, 4),
    "concat": (False, True),
    "trained": (False, True),
    "radius": (-1, 0.5, 1.6),
    "time": (0, 2, 5, 8),
    "noise": (0, 1),
}


@pytest.mark.parametrize("control", MOVES)
def test_each_control_gives_the_numbers_of_the_library(control, opened):
    before = numbers(opened)
    seen = []
    for value in MOVES[control]:
        shown = move(opened, **{control: value})
        compare(shown)
        seen.append(json.dumps(shown))
    assert len({*seen, json.dumps(before)}) >= len(MOVES[control])  # it recomputes


def test_corners_of_the_bench_agree_too(opened):
    for sigma, dim, depth, concat, trained in (
        (-3, 10, 3, False, False),
        (-2, 3, 4, False, True),
        (0, 12, 1, True, False),
        (0.5, 5, 4, True, True),
    ):
        bench = {"sigma": sigma, "fourierDim": dim, "depth": depth}
        compare(move(opened, **bench, concat=concat, trained=trained, radius=0.3, time=4))


def test_spectrum_of_the_paper(opened):
    """Appendix numbers: 2 hidden layers, B fixed, x concatenated, F = 1024, σ = 0.001."""
    shown = move(opened, sigma=-3, fourierDim=10, depth=2, concat=True, trained=False)
    close(
        [shown["lff"]["spectrum"][k] for k in (0, 1, 4, 16)],
        [0.980, 6.86e-3, 2.87e-4, 1.79e-5],
        relative=0.005,
    )
    close([shown["mlp"]["spectrum"][k] for k in (0, 1, 16)], [0.361, 0.196, 4.8e-4], relative=0.01)


@pytest.mark.parametrize(("concat", "trained", "depth"), [(False, False, 3), (True, True, 2)])
def test_break_even_is_where_the_curves_cross(concat, trained, depth, opened):
    shown = move(opened, concat=concat, trained=trained, depth=depth)
    at = shown["breakEven"]

    def ratio(sigma):
        of = {
            name: circle_spectrum(kernel).eigenvalues[16].item()
            for name, (kernel, _) in kernels({**shown["state"], "sigma": sigma}).items()
        }
        return of["lff"] / of["mlp"]

    close(ratio(at), 1.0)
    assert all(ratio(at * share) < 1 for share in (0.5, 0.1, 0.01))
    if not trained:
        assert 0.15 < at < 0.2  # the expected break-even of three hidden layers


def test_presets_tour_and_noise_button(opened):
    for sigma in (0.001, 0.01, 0.1, 1):
        opened.evaluate(f"document.querySelector('[data-sigma=\"{sigma}\"]').click()")
        close(numbers(opened)["state"]["sigma"], sigma)
        pressed = "document.querySelectorAll('.presets [aria-pressed=true]').length"
        assert opened.evaluate(pressed) == 1
    for i, stop in enumerate(read_tour()):
        opened.evaluate(f"document.querySelectorAll('[data-state]')[{i}].click()")
        shown = numbers(opened)
        for name, value in stop["state"].items():
            close(shown["state"][name], value, relative=0.02)
    opened.evaluate("document.getElementById('again').click()")
    assert numbers(opened)["samples"] != shown["samples"]


def test_the_tour_says_what_is_to_be_seen(opened):
    def visit(number):
        opened.evaluate(f"document.querySelectorAll('[data-state]')[{number - 1}].click()")
        text = opened.evaluate("document.getElementById('tour-say').textContent")
        assert text == read_tour()[number - 1]["text"]
        return numbers(opened)

    large, small, between, floor, linear, scaled = map(visit, range(1, 7))
    assert large["lff"]["trainError"] < 0.1 < 0.2 < large["mlp"]["trainError"]
    assert all(a > 5 * b for a, b in zip(*spectra(large, "lff", "mlp"), strict=True))
    assert all(a < b for a, b in zip(*spectra(small, "lff", "mlp"), strict=True))
    assert small["lff"]["error"] < small["mlp"]["error"]
    close(between["lff"]["fit"], between["mlp"]["fit"], absolute=0.05)
    visit(4)
    for log in (-4, -2.52):
        shown = move(opened, sigma=log)
        close(shown["lff"]["spectrum"][1:17], floor["lff"]["spectrum"][1:17], relative=0.1)
    order = [
        shown["lff"]["spectrum"].index(max(shown["lff"]["spectrum"])) for shown in (floor, linear)
    ]
    assert order == [0, 1]
    close(scaled["lff"]["fit"], small["lff"]["fit"], absolute=1e-9)


def spectra(shown, *names):
    return [shown[name]["spectrum"][8:33] for name in names]


def test_what_is_written_is_what_is_computed(opened):
    shown = move(opened, sigma=-1)
    cells = opened.evaluate(
        "[...document.querySelectorAll('#eigenvalues tr')]"
        ".map(r => [...r.cells].map(c => c.innerText))"
    )
    assert [row[0] for row in cells] == [str(k) for k in range(17)]
    for k, row in enumerate(cells):
        assert math.isclose(spoken(row[1]), shown["lff"]["spectrum"][k], rel_tol=0.06)
        assert math.isclose(spoken(row[4]), shown["mlp"]["times"][k], rel_tol=0.06)
    move(opened, depth=1)  # without biases its odd frequencies above 1 have no eigenvalue
    third = "document.querySelector('#eigenvalues tr:nth-child(4)').innerText.split(/\\s+/)"
    assert opened.evaluate(third)[-2:] == ["0", "never"]


SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def spoken(text):
    mantissa, _, power = text.replace(",", "").partition(" · 10")
    return float(mantissa) * 10 ** int(power.translate(SUPERSCRIPTS) or 0)


def test_curves_move_with_a_slider_and_keys_move_the_slider(opened):
    line = "document.querySelector('#{} .s0').getAttribute('points')"
    plots = ("kernel-plot", "spectrum-plot", "times-plot", "fit-plot")
    before = [opened.evaluate(line.format(name)) for name in plots]
    opened.evaluate("document.getElementById('sigma').focus()")
    for kind in ("keyDown", "keyUp"):
        opened.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key="PageUp",
            code="PageUp",
            windowsVirtualKeyCode=33,
        )
    after = [opened.evaluate(line.format(name)) for name in plots]
    sigma = numbers(opened)["state"]["sigma"]
    close(sigma, 10**-1.02)  # a tenth of the slider: from 10^-1.52
    assert all(a != b for a, b in zip(before, after, strict=True))
    unlabelled = "[...document.querySelectorAll('input')].filter(e => !e.labels.length).length"
    assert opened.evaluate(unlabelled) == 0


def test_it_opens_where_lff_filters_the_noise(opened):
    shown = numbers(opened)
    assert shown["lff"]["error"] < 0.72 * shown["mlp"]["error"]
    pressed = "document.querySelector('[data-state][aria-pressed=true] b').innerText"
    assert opened.evaluate(pressed) == "2"
    assert opened.evaluate("document.getElementById('tour-say').innerText").startswith("σ = 0.03:")
    assert opened.evaluate("location.hash") == ""  # until something is moved


def test_settings_are_kept_in_the_address(page, opened):
    before = move(opened, sigma=-1, depth=3, concat=True, **{"critic-sigma": 2})
    address = opened.evaluate("location.hash")
    assert address == (
        "#sigma=0.1&fourierDim=1024&depth=3&radius=1&time=1995&noise=0.5"
        "&concat=1&trained=0&lemma=0&seed=1&critic=2"
    )
    opened.open(page)
    assert numbers(opened)["state"] != before["state"]
    opened.evaluate(f"location.hash = {json.dumps(address)}")
    time.sleep(0.2)
    assert numbers(opened) == before
    foreign = "#sigma=1e9&depth=two&noise=-3&seed=x&<b>=1&critic=99&time=0"
    opened.evaluate(f"location.hash = {json.dumps(foreign)}")
    time.sleep(0.2)
    state = numbers(opened)["state"]
    assert (state["sigma"], state["depth"], state["noise"], state["seed"]) == (10, 3, 0, 1)
    assert state["time"] == before["state"]["time"]  # 0 has no logarithm


def test_trained_critics_are_the_librarys(opened):
    """The page's Q from the weights is that of the networks, and Q* that of the solved maze."""
    made = read_critics()
    task = maze(len(made["tiles"]), 0)
    assert list(task.grid.tiles) == made["tiles"]
    assert [critic["sigma"] for critic in made["critics"]] == [None, 0.01, 0.1, 0.3, 1, 3, 10]
    for place, critic in enumerate(made["critics"]):
        like = NetConfig(Fourier(fourier_dim=32, sigma=critic["sigma"] or 1.0), MLPTrunk((32, 32)))
        net = NetConfig(trunk=MatchedMLP(like=like)) if critic["sigma"] is None else like
        fqi = FQI(task, FQIConfig(net=net, data="full"))
        stored = [critic["basis"]] * (critic["sigma"] is not None) + critic["weights"]
        names = sorted(fqi.parameters, key=lambda name: not name.endswith("B"))
        for name, text in zip(names, stored, strict=True):
            loaded = torch.from_numpy(floats(text))
            fqi.parameters[name].copy_(loaded.reshape(fqi.parameters[name].shape))
        found = Instruments(fqi).look(features=False)
        shown = move(opened, **{"critic-sigma": max(place, 1)})["critics"][
            "lff" if place else "mlp"
        ]
        close(shown["q"], fqi.q_table()[0], absolute=1e-3)
        close(shown["error"], found["error to Q*"][0], relative=1e-3)
        close(critic["error"], found["error to Q*"][0], relative=1e-3, absolute=1e-4)
        close(critic["return"], found["return"][0], absolute=1e-3)
    say = opened.evaluate("document.getElementById('critic-say').innerText")
    assert f"LFF {short(made['critics'][-1]['return'])}, MLP" in say


def floats(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").copy()


def short(value):
    return f"{float(f'{value:.3g}'):g}"


def test_values_of_the_maze_are_drawn_on_the_scale_of_q_star(opened):
    pixels = (
        "(() => {{ const c = document.getElementById('{}');"
        "return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data] }})()"
    )
    made = read_critics()
    tiles = "".join(made["tiles"])
    best = floats(made["optimal"]).reshape(len(tiles), -1).max(axis=1)
    drawn = np.reshape(opened.evaluate(pixels.format("maze-optimal")), (-1, 4))
    walls = np.array([tile == "#" for tile in tiles])
    assert (drawn[:, 3] == np.where(walls, 0, 255)).all()
    assert np.abs(drawn[best.argmax(), :3] - [253, 231, 37]).max() <= 1
    assert np.abs(drawn[np.where(walls, np.inf, best).argmin(), :3] - [68, 1, 84]).max() <= 1
    large = np.reshape(opened.evaluate(pixels.format("maze-lff")), (-1, 4))  # σ = 3
    mlp = np.reshape(opened.evaluate(pixels.format("maze-mlp")), (-1, 4))
    far = [np.abs(image - drawn)[~walls].mean() for image in (large, mlp)]
    assert 5 * far[0] < far[1] > 20  # of 255: LFF shows Q*, the MLP does not


def test_a_redraw_is_at_once(opened):
    took = (
        "(() => { const e = document.getElementById('sigma'); const start = performance.now();"
        "for (let i = 0; i < 10; i += 1) { e.value = -2 + i / 5;"
        "e.dispatchEvent(new Event('input')) } return (performance.now() - start) / 10 })()"
    )
    assert opened.evaluate(took) < 250  # milliseconds, on a machine that is busy with other things


def test_the_policy_stops_a_foreign_script(page, browser, tmp_path):
    broken = tmp_path / "broken.html"
    foreign = "<script>document.title='owned'</script><h1 style='color:red'>x</h1>"
    broken.write_text(page.read_text().replace("</main>", f"{foreign}</main>"))
    browser.open(broken)
    assert browser.evaluate("document.title").startswith("lff")
    assert len([words for words in browser.complaints if "Content Security Policy" in words]) == 2


def test_a_phone_need_not_scroll_sideways(page, browser):
    browser.open(page, width=PHONE, height=844)
    assert browser.complaints == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    widest = "Math.max(...[...document.querySelectorAll('figure,.scroll,h1,.card,svg.live,canvas')]"
    assert browser.evaluate(f"{widest}.map(e => e.getBoundingClientRect().right))") <= PHONE
    sizes = (
        "[...document.querySelectorAll('svg.live text')].map(t => t.getBoundingClientRect().height)"
    )
    assert min(browser.evaluate(sizes)) > 9


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_can_be_read(dark, page, browser, tmp_path):
    browser.open(page, dark=dark)
    with Image.open(browser.screenshot(tmp_path / "page.png")) as image:
        grey = np.asarray(image.convert("L"), dtype=float)
    ground = np.median(grey)
    assert (ground < 40) if dark else (ground > 235)
    assert abs((grey.max() if dark else grey.min()) - ground) > 180
