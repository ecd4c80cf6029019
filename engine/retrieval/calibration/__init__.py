"""From evidence to a probability: fitted models, their evaluation, and calibrations of one's own."""
