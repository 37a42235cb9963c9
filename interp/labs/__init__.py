"""The controlled experiments of the source papers, one package each."""
