"""Questions that the paper does not ask."""
