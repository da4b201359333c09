"""The forms in which a search computes: compiled loops on processors, tensor operations and Triton kernels on GPUs."""
