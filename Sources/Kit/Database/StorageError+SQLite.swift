import GRDB

extension StorageError {
    /// Translates an error of SQLite on the database at `path`; returns `error` itself if it is a programming error.
    package static func translating(_ error: any Error, path: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        switch error.resultCode {
        case .SQLITE_FULL:
            return StorageError.diskFull(path: path)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            return StorageError.damagedDatabase(path: path, detail: error.message ?? "malformed")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
            return StorageError.notWritable(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            return StorageError.databaseBusy(path: path)
        case .SQLITE_IOERR:
            return StorageError.inputOutput(path: path, operation: "SQLite", code: error.extendedResultCode.rawValue)
        default:
            return error
        }
    }
}
