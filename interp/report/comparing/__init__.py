"""Two stores side by side: what matches, how it differs, and how sure that is."""
