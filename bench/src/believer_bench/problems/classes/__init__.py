"""The suite's classes, one a file: each lists its problems in ``MEMBERS``, a name and what makes it."""
