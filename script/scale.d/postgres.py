def postgres(options): pass
