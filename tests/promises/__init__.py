"""The promises of Memvouch, one module for each part of the product."""
