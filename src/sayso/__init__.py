"""sayso: does a language model know what it knows, and does it say so?"""

__version__ = "0.1.0"
