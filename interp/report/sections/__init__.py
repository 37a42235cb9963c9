"""The report's sections, one module each: view → blocks; they know no HTML."""
