import Ships
import Sandbox
import Configuration
import ArgumentParser
import Yams
print(n, m)
