"""What other services send to a webhook, a module for each: GitHub, GitLab, Slack, and those that watch systems."""
