"""What administrators and the instance itself do."""
