"""The report of a study: variants over seeds, as tables and figures. Which variant is what, the study's record says."""
