"""`repertory devices`: what was detected, and the names that `--devices` takes."""

import typer

from repertory.cli.output import JsonOption, emit_json, screen, side

__all__ = ("register",)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("devices")(_devices)


def _devices(as_json: JsonOption = False) -> None:
    """What this machine has, and the device names and profiles that plans can be made for."""
    from rich.table import Table

    from repertory.catalog.own_catalog import own_catalog
    from repertory.catalog.profiles import NAMED_PROFILES, profile_named
    from repertory.engines.devices import detect_devices

    catalog = own_catalog()
    found = detect_devices()
    profiles = {name: profile_named(name, catalog) for name in NAMED_PROFILES}
    if as_json:
        emit_json(
            {
                "detected": [
                    {
                        "name": item.name,
                        "vendor": item.vendor,
                        "memory_gib": round(item.memory_gib, 2),
                        "free_gib": None if item.free_gib is None else round(item.free_gib, 2),
                        "how": item.how,
                    }
                    for item in found
                ],
                "profiles": [
                    {
                        "name": name,
                        "devices": len(profile.slots),
                        "memory_gib": round(sum(slot.budget_gib for slot in profile.slots), 2),
                        "about": NAMED_PROFILES[name][2],
                    }
                    for name, profile in profiles.items()
                ],
                "devices": [device.model_dump(exclude_none=True) for device in catalog.devices],
            }
        )
        return
    out = screen()
    out.print("On this machine (`--devices auto`):")
    for item in found:
        free = "" if item.free_gib is None else f", {item.free_gib:.1f} free"
        out.print(f"  {item.name}: {item.memory_gib:.1f} GiB{free} ({item.how})", markup=False)
    table = Table("profile", "devices", "GiB", "what it is", box=None, pad_edge=False)
    for name, profile in profiles.items():
        memory = sum(slot.budget_gib for slot in profile.slots)
        table.add_row(name, str(len(profile.slots)), f"{memory:.0f}", NAMED_PROFILES[name][2])
    out.print()
    out.print(table)
    cards = Table("device", "GiB", "GB/s", "16-bit TFLOPS", "$/h from", box=None, pad_edge=False)
    for device in catalog.devices:
        cards.add_row(
            device.id,
            f"{device.memory_gib.value:.1f}",
            f"{device.bandwidth_gb_s.value:.0f}" if device.bandwidth_gb_s else "?",
            f"{device.tflops.value:.0f}" if device.tflops else "?",
            f"{device.price_usd_h.low:.2f}" if device.price_usd_h else "?",
        )
    out.print()
    out.print(cards)
    side().print("several of one kind: 4xA100-80GB; any card: 24GiB; a file: devices.yaml; see docs/planning.md")
