"""The former name of `intervals`, until all metrics use the new one."""

from harness.plugins.metrics.statistics.intervals import (
    CONFIDENCE,
    RESAMPLES,
    Codes,
    codes_of,
    jackknife_interval,
)

percentile_interval = jackknife_interval
__all__ = ["CONFIDENCE", "RESAMPLES", "Codes", "codes_of", "percentile_interval"]
