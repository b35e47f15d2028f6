"""Plug-ins: the layer inside the libraries people use.  Each imports its host and ``lff.nn``."""


def missing_host(plugin: str, host: str) -> ModuleNotFoundError:
    """Return the error that names the extra when a host is not installed."""
    return ModuleNotFoundError(
        f"lff.plugins.{plugin} needs {host}; pip install 'learned-fourier-features[{plugin}]'",
        name=host,
    )
