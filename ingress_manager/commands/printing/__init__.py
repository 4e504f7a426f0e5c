"""Printing: objects, commands and findings, as text that a terminal and a shell obey nothing of."""
