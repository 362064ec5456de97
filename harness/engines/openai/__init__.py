"""Any endpoint that speaks OpenAI's protocol, as an engine."""

DIALECTS = ("vllm", "guided", "response-format", "llama.cpp")
"""How an endpoint is told to hold an answer to a format: vLLM's structured outputs, the guided fields of older vLLM, OpenAI's
response_format, which hosted models and Ollama accept too, and llama.cpp's own fields."""
