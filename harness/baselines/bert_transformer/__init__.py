"""`bert-transformer`, a baseline for Minecraft."""
