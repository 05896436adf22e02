"""Numbers corrected for the judge, from a judge's verdicts on all rows and people's labels on some.

Notation: N rows, each with a judge's verdict f; n of them with a person's label y; the rows
lie in clusters (entities); row i was labeled with probability p(i). A number is a functional T of
the weighted rows. Its estimate is T of the *signed* mixture of three samples,

    corrected(power) = T(people on labeled + power * (judge on all - judge on labeled)),

the plug-in form of prediction-powered inference (PPI++: Angelopoulos, Duchi and Zrnic 2023, arXiv
2311.01453, Equation 2; any estimator: Zrnic 2024, arXiv 2405.18379). For a mean it is their
estimator, and for a ratio of means the solution of their estimating equation (section 3). The
labels alone are power 0. Labeled rows weigh 1/p(i), scaled to the size of their stratum (Hajek).

**Why it is right.** With y known where R = 1 and P(R = 1) = p, the efficient influence function of
a mean is m(x) - theta + (R / p) (y - m(x)), m(x) = E[y | x] (Robins, Rotnitzky and Zhao 1994,
Hahn 1998). Any function in the place of m keeps it unbiased, because p is known; the closer to m,
the smaller its variance. PPI++ takes power * f. For another functional y and f are replaced by
T's influence function at y and at f.

**Errors.** The delete-one-cluster jackknife of the whole estimator: a cluster leaves with its rows,
verdicts and labels, so both errors are counted, that of the run's entities and that of the labels.
Clusters without labels leave in up to 200 random groups, which keeps the work linear. The variance
is the sum of squared changes. The power that minimizes it is sum a (a - b) / sum (a - b)^2 for the
changes a with power 0 and b with power 1, cut to 0..1. The interval is Student's t on the scale of
:func:`sayso.metrics.intervals.student_interval`. Its degrees of freedom are Satterthwaite's,
2 / (sum d^4 / (sum d^2)^2 - 1/G) less one for the power, at most the labeled clusters less two: of
errors that few labels show, the variance is known badly. Where fewer than two labels show an error
of the judge that moves the number, up to :data:`UNSEEN` more labels are added on which the judge
knows nothing: none seen in 60 labels is no proof of none. A share that the labels alone give, with
fewer than five labels on one side, has the exact interval of
:func:`sayso.metrics.intervals.proportion_interval`: its jackknife is as good as blind there.

``benchmarks/people/correction.py`` measures how often these intervals hold.

``jackknife`` is the frame and says how many labels are needed; ``powered`` are the numbers, and
``pairs`` computes AUROC in every replicate;
``confusion`` inverts the judge's confusion matrix, and says what range known errors leave open.
"""

# ruff: noqa: F403

from __future__ import annotations

from sayso.metrics.correction.confusion import *
from sayso.metrics.correction.jackknife import *
from sayso.metrics.correction.powered import *
