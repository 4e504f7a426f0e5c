"""Random moves: no plan takes away what answers, nor what protects it."""
