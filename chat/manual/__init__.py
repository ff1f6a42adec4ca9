"""The manual of this version, as every instance shows it at `/docs`: Markdown files, and pages made of declarations."""
