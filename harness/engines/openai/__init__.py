"""Any endpoint that speaks OpenAI's protocol, as an engine."""
