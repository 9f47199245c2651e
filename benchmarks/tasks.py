"""What the tasks reach on real data, each with its defaults, beside a bar.

    python benchmarks/tasks.py DATA FIGURE

The files `task_….py` beside this one say what DATA has to hold, and what is measured. `--quick`
takes a part of the steps, which shows that everything works and reaches no bar.
"""

from importlib import import_module
from pathlib import Path

import torch
from measure import arguments, report

MODULES = {
    "characters": "task_characters",
    "code": "task_code",
    "default": "task_characters",
    "experts": "task_experts",
    "fashion": "task_images",
    "fill": "task_fill",
    "scitldr": "task_summarise",
    "speed": "task_speed",
    "squad-it": "task_answer",
    "sst2": "task_labels",
    "sst2-minilm": "task_labels",
    "trec": "task_labels",
}


def main() -> None:
    """Train, score, and report beside the bars."""
    parser = arguments("What the tasks reach.")
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder of the data")
    parser.add_argument("figure", choices=sorted(MODULES))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    figures = import_module(MODULES[options.figure]).FIGURES[options.figure]
    found = figures(options.data, options.quick)
    report(f"{options.figure}, {options.threads} threads", found, options.json)


if __name__ == "__main__":
    main()
