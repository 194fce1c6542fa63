"""Ready experiments: each answers one question of a user with a table, a figure and a sentence.

Lives here: the studies, and running and keeping them.  Must not know the command line.

Examples
--------
>>> list(STUDIES)
['batches', 'rates', 'views', 'noise', 'drift', 'conservative', 'neighbours']
"""

from colme.studies.catalogue import STUDIES, run, save
from colme.studies.finding import Curve, Study

__all__ = ["STUDIES", "Curve", "Study", "run", "save"]
