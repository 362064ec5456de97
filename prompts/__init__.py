"""Templates, shot selection and rendering: the only place that makes text for a model."""
