"""`make bench`: every benchmark, each printing its ratios against the named rival in the same run."""

from tests.benchmarks import cohorts, loading, patching, plots, search

if __name__ == "__main__":
    patching.main()
    plots.main()
    loading.main()
    search.main()
    cohorts.main()
