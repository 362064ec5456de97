"""`cnn-gru`, a baseline for Minecraft."""
