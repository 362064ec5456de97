"""What a block builder is asked."""
