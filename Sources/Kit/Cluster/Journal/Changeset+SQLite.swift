import CSQLiteSession
import Foundation
import GRDB

extension Changeset {
    /// A change that does not fit the rows of a database.
    package struct Conflict: Sendable, Equatable {
        package enum Kind: Int32, Sendable {
            /// The row has other values than before the change.
            case otherValues = 1
            /// There is no row of that key to update or delete.
            case rowMissing
            /// There is a row of that key already.
            case rowExists
            /// The row breaks a constraint.
            case constraint
            case foreignKey
        }

        package let table: String
        package let kind: Kind
        /// nil for conflicts that are not of one row.
        package let operation: Change.Operation?
    }

    /// Runs updates, takes their changes to replicated tables, and rolls them back.
    ///
    /// - Parameters:
    ///   - db: a connection within a transaction, which stays open.
    /// - Throws: ``JournalError`` for changes that a journal cannot keep, and errors of `updates`. They are rolled back
    ///   in any case.
    static func capture<Value>(
        _ tables: JournalTables,
        in db: Database,
        _ updates: (Database) throws -> Value
    ) throws -> (value: Value, changeset: Changeset) {
        var outcome: Result<(value: Value, changeset: Changeset), any Error> = .failure(CancellationError())
        try db.inSavepoint {
            outcome = Result {
                let session = try Session(of: db, tables)
                let value = try updates(db)
                return (value, try session.changeset(db))
            }
            return .rollback
        }
        return try outcome.get()
    }

    /// Applies the changes, and then derives the rows of tables that are not replicated.
    ///
    /// Triggers and foreign keys are off meanwhile. Rows that they changed are part of the changeset, and SQLite 3.40
    /// can switch off the actions of foreign keys only with the keys. All references are checked afterwards.
    ///
    /// - Parameters:
    ///   - db: a connection within a transaction, which the caller rolls back after an error.
    ///   - isPart: whether references may refer to rows of a later part; the caller checks them after the last one.
    /// - Throws: ``JournalStop/Reason``, `DatabaseError`, errors of derivations.
    func apply(_ tables: JournalTables, in db: Database, isPart: Bool = false) throws {
        var names: Set<String> = []
        for change in changes where names.insert(change.table).inserted {
            guard try tables.fits(change, db) else { throw JournalStop.Reason.unfit(table: change.table) }
        }
        let derived = changes.compactMap { change in
            tables.derivation(of: change.table).map { (change: change, derivation: $0) }
        }
        let before = try derived.map { try tables.row(of: $0.change, db) }
        try apply(to: db)
        if !isPart { for change in changes { try ForeignKeys.check(change, tables, in: db) } }
        for ((change, derivation), before) in zip(derived, before) {
            let after = try tables.row(of: change, db)
            try Self.derive(derivation, .init(before: before, after: after), of: change.table, db)
        }
    }

    private static func derive(
        _ derivation: JournalTables.Derivation,
        _ update: JournalTables.RowUpdate,
        of table: String,
        _ db: Database
    ) throws {
        do {
            try derivation(db, update)
        } catch let error as DatabaseError where temporaryCodes.contains(error.resultCode) {
            throw error
        } catch {
            throw JournalStop.Reason.derivation(table: table)
        }
    }

    /// Codes that tell of the disk, not of the change.
    private static let temporaryCodes: [ResultCode] = [
        .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_NOMEM, .SQLITE_CORRUPT,
    ]

    private func apply(to db: Database) throws {
        var conflict = larder_conflict()
        let code = bytes.withUnsafeBytes { bytes in
            larder_changeset_apply(db.sqliteConnection, Int32(bytes.count), bytes.baseAddress, &conflict)
        }
        if let kind = Conflict.Kind(rawValue: conflict.kind) {
            let table = withUnsafeBytes(of: conflict.table) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            let operation = Change.Operation(rawValue: UInt8(clamping: conflict.operation))
            throw JournalStop.Reason.conflict(Conflict(table: table, kind: kind, operation: operation))
        }
        guard code == 0 else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

/// Records changes of a connection, as long as the value lives.
final class Session {
    /// Called by SQLite, once for each table that is changed.
    private final class Filter {
        let tables: JournalTables
        var undeclared: Set<String> = []

        init(_ tables: JournalTables) {
            self.tables = tables
        }

        func records(_ table: String) -> Bool {
            if tables.isReplicated(table) { return true }
            if !tables.isLocal(table) { undeclared.insert(table) }
            return false
        }
    }

    /// A larger change would delay all servers, and exceed the time of a transaction.
    private static let mostBytes = 4 << 20

    private let filter: Filter
    private let session: OpaquePointer

    init(of db: Database, _ tables: JournalTables) throws {
        filter = Filter(tables)
        var session: OpaquePointer?
        let code = larder_session_create(
            db.sqliteConnection,
            { context, table in
                guard let context, let table else { return 0 }
                let filter = Unmanaged<Filter>.fromOpaque(context).takeUnretainedValue()
                return filter.records(String(cString: table)) ? 1 : 0
            },
            Unmanaged.passUnretained(filter).toOpaque(),
            &session
        )
        guard code == 0, let session else { throw JournalError.session(code: code) }
        self.session = session
    }

    deinit { larder_session_delete(session) }

    func changeset(_ db: Database) throws -> Changeset {
        guard filter.undeclared.isEmpty else { throw JournalError.undeclaredTables(filter.undeclared.sorted()) }
        guard larder_has_unresolved_foreign_keys(db.sqliteConnection) == 0 else {
            throw JournalError.unresolvedForeignKeys
        }
        var count: Int32 = 0
        var bytes: UnsafeMutableRawPointer?
        let code = larder_session_changeset(session, &count, &bytes)
        defer { larder_session_free(bytes) }
        guard code == 0 else { throw JournalError.session(code: code) }
        guard count <= Self.mostBytes else { throw JournalError.changesetTooLarge(bytes: Int(count)) }
        return try Changeset(bytes: bytes.map { Data(bytes: $0, count: Int(count)) } ?? Data())
    }
}

/// Looks for references without a row after a change was applied: two scopes may have removed a row and referred to it
/// at the same time.
private enum ForeignKeys {
    static func check(_ change: Changeset.Change, _ tables: JournalTables, in db: Database) throws {
        if change.operation == .delete {
            try checkReferences(to: change, tables, db)
        } else {
            try checkReferences(of: change, db)
        }
    }

    private static func checkReferences(of change: Changeset.Change, _ db: Database) throws {
        let columns = try db.columns(in: change.table)
        for key in try db.foreignKeys(on: change.table) {
            let conditions = key.mapping.map { "parent.\(quoted($0.destination)) = child.\(quoted($0.origin))" }
            let present = key.mapping.map { "child.\(quoted($0.origin)) IS NOT NULL" }
            let own = columns.filter { $0.primaryKeyIndex > 0 }.map { "child.\(quoted($0.name)) IS ?" }
            let sql = """
                SELECT 1 FROM \(quoted(change.table)) AS child
                WHERE \((own + present).joined(separator: " AND ")) AND NOT EXISTS (
                    SELECT 1 FROM \(quoted(key.destinationTable)) AS parent
                    WHERE \(conditions.joined(separator: " AND "))
                )
                """
            try checkEmpty(sql, change.key, of: change.table, db)
        }
    }

    private static func checkReferences(to change: Changeset.Change, _ tables: JournalTables, _ db: Database) throws {
        let names = try db.columns(in: change.table).map(\.name)
        for (child, key) in try tables.references(to: change.table, db) {
            let values = key.mapping.map { column in
                names.firstIndex { $0.lowercased() == column.destination.lowercased() }
                    .flatMap { change.old.indices.contains($0) ? change.old[$0] : nil } ?? .null
            }
            let isSame = key.mapping.map { "child.\(quoted($0.origin)) = ?" }
            let isThere = key.mapping.map { "parent.\(quoted($0.destination)) = child.\(quoted($0.origin))" }
            let sql = """
                SELECT 1 FROM \(quoted(child)) AS child
                WHERE \(isSame.joined(separator: " AND ")) AND NOT EXISTS (
                    SELECT 1 FROM \(quoted(change.table)) AS parent WHERE \(isThere.joined(separator: " AND "))
                )
                """
            try checkEmpty(sql, values, of: child, db)
        }
    }

    private static func checkEmpty(_ sql: String, _ values: [DatabaseValue], of table: String, _ db: Database) throws {
        let found = try Int.fetchOne(db.cachedStatement(sql: sql), arguments: StatementArguments(values))
        guard found == nil else { throw JournalStop.Reason.danglingReference(table: table) }
    }

    private static func quoted(_ name: String) -> String { name.quotedDatabaseIdentifier }
}
