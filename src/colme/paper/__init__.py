"""The paper's experiments as data, and one call that lays them beside the published numbers.

Lives here: `EXPERIMENTS` (copy one, change a number, `measure` it), `PUBLISHED` (what the paper
reports) and `reproduce` (tables, figures and a report).  Must not know the command line.

Examples
--------
>>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 2, "horizon": 50})
>>> measure(quick).measured["local"].convergence["0.1"].shape
(2, 200)
>>> PUBLISHED["convergence_time"]["all"]["local"]["0.01"]["avg"]
4494
"""

from colme.paper.experiments import EXPERIMENTS
from colme.paper.measure import measure
from colme.paper.published import PUBLISHED
from colme.paper.reproduction import Reproduction, draw_figures, reproduce

__all__ = ["EXPERIMENTS", "PUBLISHED", "Reproduction", "draw_figures", "measure", "reproduce"]
