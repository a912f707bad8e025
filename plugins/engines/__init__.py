"""The plugin of the built-in engines; each engine is one file and one entry here."""

from __future__ import annotations

from harness.specs import EngineSpec, hookimpl


@hookimpl
def harness_engines() -> list[EngineSpec]:
    """List the built-in engines."""
    here = "harness.plugins.engines"
    local = "harness.encode.stored_embedder:LocalEngine"  # runs also where no engine is named
    return [
        EngineSpec(name="local", target=local, summary="in this process"),
        EngineSpec(
            name="devices",
            target=f"{here}.driver:DevicesEngine",
            summary="one process a device, for several GPUs or CPU processes",
        ),
        EngineSpec(
            name="ray",
            target=f"{here}.ray_engine:RayEngine",
            summary="actors of Ray: all cores, several GPUs, or a cluster (RAY_ADDRESS)",
        ),
    ]
