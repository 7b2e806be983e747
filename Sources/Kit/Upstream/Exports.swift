@_exported public import Concurrency
@_exported public import Freshness
