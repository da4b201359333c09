"""The network in machine code for processors: written through llvmlite, kept on disk, the same bits on each of them."""
