"""Cards of eight networks and of the critics of two libraries, and the page that compares them.

    python examples/stress_cards.py [--quick] [--only simba] [--cards results/stress/cards]

Runs ``lff stress`` on each (about five minutes of one core; finished jobs are not run again) and
writes each card as JSON; from all cards that are there it writes one page that compares them and
prints the table of docs/stress.md.
"""

import json
import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

from lff.experiments.stress.networks import find_network, ours
from lff.experiments.stress.run import stress
from lff.regularizers import LayerNorm
from lff.report import write_comparison
from lff.stats.stress import Measured, StressReport

sys.path.append(str(Path(__file__).parent))
from stress_networks import CLEANRL_LR

NETWORKS = {
    "mlp": ("MLP", ours("mlp")),
    "mlp-2": ("MLP-2", ours("mlp-2")),
    "mlp-norm": ("MLP + layer norm", ours("mlp", regularizers=(LayerNorm(),))),
    "lff-0.001": ("LFF, sigma 0.001", ours("lff", sigma=0.001)),
    "lff-0.01": ("LFF, sigma 0.01", ours("lff")),
    "lff-0.1": ("LFF, sigma 0.1", ours("lff", sigma=0.1)),
    "ffn": ("FFN", ours("ffn")),
    "simba": ("SimBa", ours("simba")),
    "sb3": ("Stable-Baselines3", "stress_networks:sb3_critic"),
    "cleanrl": ("CleanRL", "stress_networks:cleanrl_critic"),
}


def shown(number: Measured) -> str:
    """Return a number with its interval."""
    return f"{number.estimate:.3g} [{number.low:.3g}, {number.high:.3g}]"


def markdown(reports: list[StressReport]) -> str:
    """Return one row for each network and one column for each stress."""
    first = reports[0].stresses
    titles = [f"{one.title}{f', {one.unit}' if one.unit else ''}" for one in first]
    lines = [["network", *(title.replace("|Q|", "\\|Q\\|") for title in titles)]]
    lines.append(["---"] * len(lines[0]))
    for report in reports:
        numbers = [f"{shown(one.measured)}, {one.grade}" for one in report.stresses]
        lines.append([f"**{report.name}**", *numbers])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def read_cards(folder: Path) -> list[StressReport]:
    """Return the cards that are there, in the order of NETWORKS."""
    paths = [folder / f"{key}.json" for key in NETWORKS]
    return [StressReport.from_json(json.loads(p.read_text())) for p in paths if p.exists()]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three seeds and shorter runs")
    parser.add_argument("--only", choices=NETWORKS, nargs="*", default=[], help="networks to run")
    parser.add_argument("--cards", type=Path, default=Path("results/stress/cards"))
    parser.add_argument("--page", type=Path, default=Path("docs/_static/stress-comparison.html"))
    parser.add_argument("--dir", type=Path, default=Path("runs/stress"), help="of the jobs' files")
    arguments = parser.parse_args()
    arguments.cards.mkdir(parents=True, exist_ok=True)
    for key in arguments.only or NETWORKS:
        name, network = NETWORKS[key]
        subject = find_network(network) if isinstance(network, str) else network
        rate = CLEANRL_LR if key == "cleanrl" else 3e-4
        report = stress(
            subject, name=name, lr=rate, quick=arguments.quick, dir=arguments.dir, say=print
        )
        report = replace(report, name=name)  # not "MLP (this network)", beside the reference
        text = json.dumps(report.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        (arguments.cards / f"{key}.json").write_text(text + "\n")
        print(f"{name}: {report.summary}")
    reports = read_cards(arguments.cards)
    write_comparison(reports, arguments.page)
    print(f"\n{markdown(reports)}\n\n{arguments.page}")


if __name__ == "__main__":
    main()
