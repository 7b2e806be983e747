import GRDB

extension StorageError {
    /// Translates an error of SQLite on the database at `path`; returns `error` itself if it is a programming error.
    package static func translating(_ error: any Error, path: String) -> any Error {
        if error is RowDecodingError || error is DecodingError {
            return StorageError.damagedDatabase(path: path, detail: "a value has another type than its column")
        }
        guard let error = error as? DatabaseError else { return error }
        switch error.resultCode {
        case .SQLITE_FULL:
            return StorageError.diskFull(path: path)
        case _ where error.isDamage:
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

extension DatabaseError {
    /// Whether it tells of damaged pages.
    var isDamage: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode)
            // No statement relies on a constraint: rows that break one do not fit together.
            || resultCode == .SQLITE_CONSTRAINT
            || resultCode == .SQLITE_ERROR && Self.complaints.contains { message?.hasPrefix($0) == true }
    }

    /// Whether a migration is at fault: its SQL, or a constraint that it adds and the rows break.
    var isOfMigration: Bool {
        resultCode == .SQLITE_CONSTRAINT ? !isOfType : StorageError.translating(self, path: "") is DatabaseError
    }

    /// `SQLITE_CONSTRAINT_DATATYPE`: a row has a value of another type than its column, which no write stores.
    private var isOfType: Bool { extendedResultCode.rawValue == 3091 }

    /// Messages about damaged content, with the code of any error: from virtual tables and their declarations, JSON
    /// functions and sums. "malformed" begins those of FTS5 about a changed byte in `sqlite_schema`.
    private static let complaints = [
        "invalid fts5 file format", "vtable constructor failed", "undersize RTree", "malformed ", "parse error in ",
        "unrecognized option", "integer overflow",
    ]
}
