"""The programs that start servers: their settings, and how they start ours."""
