"""The whole road in one call over HTTP: instruction and state in, actions and the state after them out."""
