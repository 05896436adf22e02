"""The version of sayso: in every manifest, signature and card."""

__version__ = "0.2.0"
