"""Rooms, people, tracks and who gets which: inputs in, told messages and commands to the media worker out. No I/O."""
