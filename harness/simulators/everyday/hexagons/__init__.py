"""What a drawing board is asked."""
