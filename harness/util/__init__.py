"""What every other part may use: files, lines of JSON, hashes, bars, tables of names."""
