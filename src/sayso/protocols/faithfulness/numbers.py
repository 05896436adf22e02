"""The numbers of faithfulness: what each is called, how it is read and where it is shown."""

from __future__ import annotations

from sayso.metric import Headline, Metric, MetricTable

NUMBERS = MetricTable(
    Metric(
        "skill",
        "words match the draws (0 blind, 1 perfect)",
        symbol="skill",
        notation="signed",
        higher=True,
        study=1,
        limits=None,
        headline=Headline(
            what="how well their words show how sure they are",
            better="shows better in words how sure it is",
            worse="shows worse in words how sure it is",
            best="shows best in words how sure it is",
        ),
    ),
    Metric(
        "accuracy",
        "right, of all facts",
        higher=True,
        study=6,
        headline=Headline(
            what="how often they are right",
            better="is right more often",
            worse="is right less often",
            best="is right most often",
        ),
    ),
    Metric("mean_decisiveness", "how sure its words sound", study=4),
    Metric("mean_confidence", "how sure it is: share of draws that agree", study=5),
    Metric(
        "cmfg", "faithfulness, mean over bins of confidence", symbol="cMFG", higher=True, study=2
    ),
    Metric("mfg", "faithfulness, mean over answers", symbol="MFG", higher=True, study=3),
    Metric("punting", "answers that assert nothing"),
)
