package import Foundation

/// Why a journal did not do something. A PostgreSQL that does not respond is a `ClusterError`, a failure of the disk a
/// `StorageError`.
package enum JournalError: Error, Sendable, Equatable {
    /// A row of the journal cannot be applied; nothing after it was.
    case stopped(JournalStop)
    /// The server's file follows another journal than that of this PostgreSQL.
    case otherJournal(expected: String, found: String)
    /// The server's file has rows that are not of the journal.
    case otherRows(table: String)
    /// The server's file lacks tables or columns that only a newer build knows.
    case incomplete
    /// The journal's rows are of another PostgreSQL, whose transactions had higher numbers.
    case restoredElsewhere
    /// The table does not exist, or has no primary key.
    case unusableTable(String)
    /// A transaction changed tables that are declared neither as replicated nor as local. Nothing of it was kept.
    case undeclaredTables([String])
    /// A transaction ended with a broken foreign key. Nothing of it was kept.
    case unresolvedForeignKeys
    /// The changes of a transaction have more bytes than a journal takes. Nothing of it was kept.
    case changesetTooLarge(bytes: Int)
    /// All rowids of the blocks that a transaction could use were used up again and again. Nothing of it was kept.
    case rowIDsUsedUp(table: String)
    /// A write with this id is in the journal already.
    case alreadyWritten(UUID)
    /// The connection was lost at the commit, and the journal could not be asked: the write was made or was not.
    case outcomeUnknown(write: UUID)
    /// A function of SQLite's session extension failed with this code.
    case session(code: Int32)
}

/// The row of the journal at which a server has stopped.
package struct JournalStop: Error, Sendable, Equatable {
    package enum Reason: Error, Sendable, Equatable {
        /// The changeset's bytes are not those that were written.
        case damaged(Changeset.Damage)
        /// Rows of the scope are missing before it: up to this number they were applied here, and it follows another.
        case gap(applied: Int64, previous: Int64)
        /// This server has applied a row of the scope that the journal does not have.
        case diverged(applied: Int64, previous: Int64)
        /// A newer build wrote it.
        case newerSchema(Int)
        /// It changes a table that is not replicated here, or has other columns.
        case unfit(table: String)
        /// The rows of this server are not those that the change was made of.
        case conflict(Changeset.Conflict)
        /// The local rows that are derived from a row of the table could not be written.
        case derivation(table: String)
        /// A row of the table would refer to none.
        case danglingReference(table: String)
    }

    package let number: Int64
    package let scope: String
    package let reason: Reason
}

extension JournalError: CustomStringConvertible {
    /// One sentence for an operator, never with stored content.
    package var description: String {
        switch self {
        case .stopped(let stop): stop.description
        case .otherJournal(let expected, let found):
            "This data directory follows the journal \(expected), and the store has the journal \(found)."
        case .otherRows(let table):
            """
            This data directory has users' data of its own (table \(table)). Copy it to the store by \
            "larder store copy", and start with a new directory.
            """
        case .incomplete:
            "This data directory lacks data that a newer build has written. Start it with that build first."
        case .restoredElsewhere:
            """
            The journal was restored from another PostgreSQL. Copy it to a new directory by "larder store copy", and \
            from there to an empty database.
            """
        case .unusableTable(let table): "The table \(table) cannot be replicated: it needs a primary key."
        case .undeclaredTables(let tables):
            "A transaction changed tables that are not declared: \(tables.joined(separator: ", "))."
        case .unresolvedForeignKeys: "A transaction ended with a broken foreign key."
        case .changesetTooLarge(let bytes): "The changes of a transaction have \(bytes) bytes, which is too many."
        case .rowIDsUsedUp(let table): "A transaction needs more rowids of \(table) than a server reserves."
        case .alreadyWritten(let id): "The write \(id) was made before."
        case .outcomeUnknown(let id):
            "The connection to the store was lost during a commit: whether the write \(id) was made is unknown."
        case .session(let code): "SQLite's session extension failed (code \(code))."
        }
    }
}

extension JournalStop: CustomStringConvertible {
    /// One sentence for an operator, never with stored content.
    package var description: String {
        "The row \(number) of the journal (scope \(scope)) cannot be applied: \(reason.description)."
    }
}

extension JournalStop.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged: "its bytes are damaged"
        case .gap(let applied, let previous): "it follows \(previous), and the last one here is \(applied)"
        case .diverged(let applied, let previous):
            "it follows \(previous), and this server has \(applied), which the journal has lost"
        case .newerSchema(let version): "it is of the schema \(version), which this build does not know"
        case .unfit(let table): "the table \(table) has other columns here, or is not replicated"
        case .conflict(let conflict): "it does not fit the table \(conflict.table) (\(conflict.kind))"
        case .derivation(let table): "the search index or the like of \(table) cannot be updated"
        case .danglingReference(let table): "a row of \(table) would refer to a row that is not there"
        }
    }
}
