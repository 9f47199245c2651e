"""Pictures with labels: a picture in, what it shows out."""

__all__: list[str] = []
