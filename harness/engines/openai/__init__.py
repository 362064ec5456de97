"""Any endpoint that speaks OpenAI's protocol, as an engine."""

DIALECTS = ("vllm", "response-format", "llama.cpp")
"""How a request asks for an answer that keeps to a format: vLLM's structured outputs, OpenAI's response_format,
which hosted models and Ollama also accept, and llama.cpp's own fields."""
