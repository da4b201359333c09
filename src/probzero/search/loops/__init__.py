"""The inner loops of searches, compiled for processors: templates, see `probzero.templates`.

On a GPU a batch is a few large tensor operations (`backends/tensor.py`). On a processor the same operations are so
small that calling them costs more than doing them: 20 games spend over half of their time on calls. So there the same
arrays are walked node by node in machine code. Both forms give the same graphs; tests hold both to a slow third.
"""
