"""`everyday`: ordinary requests for both worlds, written for this project, and a judge that knows all right answers."""
