"""Tables, figures and the check against the reference, all made from the files of a run."""
