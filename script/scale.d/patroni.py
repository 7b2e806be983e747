def patroni(options): pass
