"""Tables, figures and the comparison with the reference, all made from the files of a run."""
