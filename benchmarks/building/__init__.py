"""How often the engineering team builds what was asked for, next to one prompt and to five drafts without tests."""
