"""What words are called in the other language, counted from translated texts."""
