"""What is measured: the metrics of each task."""
