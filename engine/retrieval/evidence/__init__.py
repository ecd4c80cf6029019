"""What speaks for and against each pooled record: a question and a passage become features and reasons."""
