"""Printing: objects, commands and messages, as text that a terminal and a shell obey nothing of."""
