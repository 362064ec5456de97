"""The two grid worlds: state, actions, feasibility and geometry. Pure values, no input or output."""
