"""Pictures of states: SVG and PNG for files and reports, text for the terminal."""
