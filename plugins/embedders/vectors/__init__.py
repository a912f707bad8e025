"""Word vectors: file formats, packages that ship vectors, and bags of words."""
