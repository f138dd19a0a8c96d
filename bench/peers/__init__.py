"""What a user would otherwise pick, asked the same questions of the same documents."""
