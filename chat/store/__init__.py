"""SQLite: one writer with group commit, readers, migrations, and one module of SQL per kind of thing."""
