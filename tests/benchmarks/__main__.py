"""`make bench`: every benchmark, each printing its ratios against the named rival in the same run."""

from tests.benchmarks import cohorts, loading, patching, plots

if __name__ == "__main__":
    patching.main()
    plots.main()
    loading.main()
    cohorts.main()
