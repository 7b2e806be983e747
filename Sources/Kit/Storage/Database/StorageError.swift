import Foundation
import GRDB

/// An error of stored data, in terms that an operator can act upon. Functions of this module throw it. Those that take
/// a `Database` also throw GRDB's errors, and those that wait also `CancellationError`; their comments name other
/// errors, and cases that callers tell apart.
///
/// Errors of SQLite that mean none of these (a broken constraint, faulty SQL) are programming errors and pass as GRDB's
/// `DatabaseError`.
package enum StorageError: Error, Sendable, Equatable {
    /// Another process has locked the data directory; `pid` is its process id if the lock file has one.
    case directoryInUse(path: String, pid: Int32?)
    /// Permissions or a read-only file system prevent writing.
    case notWritable(path: String)
    /// Permissions prevent reading.
    case notReadable(path: String)
    /// The disk or the quota is full. Nothing of the change was kept.
    case diskFull(path: String)
    /// The operating system failed to read or write; `code` is its `errno` or SQLite's extended result code.
    case inputOutput(path: String, operation: String, code: Int32)
    /// The file is no database, or its pages are inconsistent. It was not changed.
    case damagedDatabase(path: String, detail: String)
    /// The database is missing or empty, but files that belong to one exist: `remains` are their names. Nothing was
    /// changed.
    case databaseMissing(path: String, remains: [String])
    /// The file is a database of another program. It was not changed.
    case foreignDatabase(path: String, detail: String)
    /// Database and blobs belong to two data directories. Nothing was changed.
    case foreignBlobs(path: String, identity: String, databaseIdentity: String)
    /// The file with the identity of the blobs, or the row with that of the database, holds something else.
    case malformedIdentity(path: String)
    /// Rows name files of blobs, but the folder of the blobs is missing or empty, as if its volume were not mounted.
    /// Nothing was changed.
    case blobsMissing(path: String, files: Int, identity: String)
    /// Tables, indexes or triggers that the applied migrations have created are missing. Nothing was changed.
    case schemaIncomplete(path: String, missing: [String])
    /// Tables, indexes, triggers or columns exist that a migration creates which is not recorded as applied. Nothing
    /// was changed.
    case schemaNotRecorded(path: String, present: [String])
    /// A migration of this build failed; the ones before it were applied.
    case migrationFailed(path: String, detail: String)
    /// A newer build wrote this database: it has these migrations, which this build does not know. It was not changed.
    case newerSchema(path: String, unknownMigrations: [String])
    /// An older build wrote this database, and it is only read here: the next start of the server updates it.
    case olderSchema(path: String)
    /// Two migrations of this build share one name.
    case ambiguousMigration(name: String)
    /// Another connection held a lock of the database for longer than the busy timeout.
    case databaseBusy(path: String)
    /// The database was used after it had been closed.
    case databaseClosed(path: String)
    /// The file of a blob is missing or has another length than its row says.
    case blobUnavailable(BlobID)
    /// A body was used after it had been finished or discarded.
    case bodyAlreadyFinished
    /// A body has another length than announced. Lengths in bytes.
    case incompleteBody(expected: Int, received: Int)
    /// A read beyond the end of a blob. Positions in bytes.
    case rangeOutsideBlob(BlobID, requested: Range<Int>, length: Int)
    /// Secrets were sealed, but the key file is missing.
    case keyMissing(path: String)
    /// The key file holds another key than the one that sealed the secrets of this database.
    case wrongKey(path: String)
    /// The key file does not hold exactly 256 bits.
    case malformedKey(path: String)
    /// Every user of the machine may read the key file.
    case exposedKey(path: String)
    /// A sealed secret does not open under its name: it was changed or moved to another name.
    case secretNotAuthentic(name: String)
}

extension StorageError: CustomStringConvertible {
    /// One sentence for an operator, with paths, names and numbers, never with stored content.
    package var description: String {
        switch self {
        case .directoryInUse(let path, let pid):
            "The data directory \(path) is in use by another process" + (pid.map { " (pid \($0))." } ?? ".")
        case .notWritable(let path):
            "\(path) cannot be written: check its permissions and whether the file system is read-only."
        case .notReadable(let path): "\(path) cannot be read: check its permissions."
        case .diskFull(let path): "The disk that holds \(path) is full."
        case .inputOutput(let path, "mkdir", let code):
            "The folder \(path) cannot be made: \(Self.reason(noFolder: code)). Choose another data directory."
        case .inputOutput(let path, let operation, let code): "\(operation) failed on \(path) (code \(code))."
        case .damagedDatabase(let path, let detail): "The database \(path) is damaged: \(detail)."
        case .databaseMissing(let path, let remains):
            "The database \(path) is missing or empty, but what belongs to one is there: "
                + "\(remains.joined(separator: ", ")). "
                + "Restore the database from a backup, or move these elsewhere to start over. Nothing was changed."
        case .foreignDatabase(let path, let detail): "\(path) is no database of Larder: \(detail). Nothing was changed."
        case .foreignBlobs(let path, let identity, let databaseIdentity):
            "\(path) belongs to another data directory (\(identity)) than the database beside it "
                + "(\(databaseIdentity)). Put together what belongs together. Nothing was changed."
        case .malformedIdentity(let path):
            "\(path) does not hold a valid identity of a data directory. Restore it from a backup."
        case .blobsMissing(let path, let files, let identity):
            "\(path) has none of the files that rows name (\(files)): check that its volume is mounted, or restore it. "
                + "To go on without them, create \(path)/.identity with the text \(identity). Nothing was changed."
        case .schemaIncomplete(let path, let missing):
            "The database \(path) is incomplete: \(missing.joined(separator: ", ")) missing. "
                + "Restore it from a backup. Nothing was changed."
        case .schemaNotRecorded(let path, let present):
            "The database \(path) is of no build: it has \(present.joined(separator: ", ")), but not the record of the "
                + "migrations that create this. Restore it from a backup. Nothing was changed."
        case .migrationFailed(let path, let detail):
            "The database \(path) cannot be brought up to date: \(detail). Restore it from a backup."
        case .newerSchema(let path, let unknown):
            "The database \(path) was written by a newer build; unknown here: \(unknown.joined(separator: ", "))."
        case .olderSchema(let path):
            "The database \(path) was written by an older build; larder serve brings it up to date."
        case .ambiguousMigration(let name): "Two migrations are named \"\(name)\"."
        case .databaseBusy(let path): "The database \(path) is locked by another process."
        case .databaseClosed(let path): "The database \(path) is closed."
        case .blobUnavailable(let id): "The file of blob \(id) is missing, truncated or changed."
        case .bodyAlreadyFinished: "The body was finished before."
        case .incompleteBody(let expected, let received): "The body ended after \(received) of \(expected) bytes."
        case .rangeOutsideBlob(let id, let requested, let length):
            "Bytes \(requested) lie outside blob \(id) of \(length) bytes."
        case .keyMissing(let path):
            "The key file \(path) is missing, and the database holds secrets that were sealed with it."
        case .wrongKey(let path):
            "The key file \(path) holds another key than the one that sealed the secrets of this database."
        case .malformedKey(let path): "The key file \(path) does not hold a 256-bit key."
        case .exposedKey(let path): "Every user of this machine may read the key file \(path): chmod 0400."
        case .secretNotAuthentic(let name): "The sealed secret \"\(name)\" does not open: it was changed or moved."
        }
    }

    /// Says why mkdir(2) failed.
    private static func reason(noFolder code: Int32) -> String {
        switch code {
        case ENOENT: "its file system lets no folders be made there"
        case ENOTDIR: "a part of that path is a file"
        case ENAMETOOLONG: "the path is too long"
        case ELOOP: "its links lead in a circle"
        default: "the system refuses it (error \(code))"
        }
    }
}

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
