"""Items to text (boards, histories, builder poses), text to actions, grammars and JSON Schemas."""
