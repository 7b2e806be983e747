@_exported public import Database
@_exported public import ResponseStore
