"""The task API over HTTP: a request holds an instruction and a state, its answer the actions and the state after them."""
