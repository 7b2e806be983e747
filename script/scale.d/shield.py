def shield(options): pass
