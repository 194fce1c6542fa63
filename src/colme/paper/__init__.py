"""The paper's experiments as data, and one call that reproduces its tables and figures.

Lives here: `EXPERIMENTS` (copy one, change a number, `measure` it), `PUBLISHED` (what the paper
reports) and `reproduce` (everything beside the published numbers).  Nothing below knows this room.
"""

from colme.paper.experiments import EXPERIMENTS
from colme.paper.measure import measure
from colme.paper.published import PUBLISHED

__all__ = ["EXPERIMENTS", "PUBLISHED", "measure"]
