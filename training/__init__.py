"""Teach the default English embedding model Japanese: data, teacher, rows, figures."""
