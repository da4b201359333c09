"""The commands, one module each: parse, load, call the library, write files. Each has `add_arguments` and `run`."""
