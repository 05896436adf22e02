"""The colors of charts as the page's style sheet calls them."""

from sayso.report.charts import FOURTH, GRID, INK, LONG, MUTED, PAIRS, SHORT, THIRD

#: color in a specification -> variable of the style sheet
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    SHORT: "--short",
    LONG: "--long",
    THIRD: "--third",
    FOURTH: "--fourth",
    **{color: f"--pair-{name.lower()}" for name, color in PAIRS.items()},
}
