//! HyperShift platform None: the workers of hosted clusters.
