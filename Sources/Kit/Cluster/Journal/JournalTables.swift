package import GRDB
import Storage

/// The tables whose rows a journal replicates, and those that each server derives from them.
package struct JournalTables: Sendable {
    /// A row that a change of another server has changed here.
    package struct RowUpdate {
        /// The row before; nil if it was inserted.
        package let before: Row?
        /// The row after; nil if it was deleted.
        package let after: Row?

        package init(before: Row?, after: Row?) { (self.before, self.after) = (before, after) }
    }

    /// Updates search indexes and other tables that follow from a row, as triggers do for a local change.
    package typealias Derivation = @Sendable (Database, RowUpdate) throws -> Void

    private var replicated: Set<String>
    /// Replicated tables that have rows in a new file.
    private let beginning: Set<String>
    private let local: Set<String>
    private let virtualPrefixes: [String]
    private let derivations: [String: Derivation]
    /// By replicated table, the column that names a file.
    let contents: [String: String]

    /// Declares tables.
    ///
    /// - Parameters:
    ///   - replicated: tables with a primary key; all servers have the same rows. A migration that adds a column writes
    ///     the rows again: sessions take a value that is not stored for NULL.
    ///   - beginning: those of them that have rows in a new file.
    ///   - local: tables that follow from others on each server, by triggers for the run that is rolled back, and by
    ///     `derivations` for good.
    ///   - virtual: virtual tables; those that one consists of (`NAME_*`) are not replicated.
    ///   - derivations: by replicated table, a function that derives rows of local tables from its rows. Triggers do
    ///     not run while a changeset is applied, because the rows that they change in replicated tables are part of it.
    ///   - contents: by replicated table, the column that names a file by its `BlobID`. Each file belongs to one row,
    ///     and is removed with it, or passes to another row in the same transaction. The column has an index and no
    ///     foreign key: not every server has every file.
    ///     Triggers remove the rows of table `blob`, as in the database of a server by itself.
    package init(
        replicated: [String],
        beginning: [String] = [],
        local: [String] = [],
        virtual: [String] = [],
        derivations: [String: Derivation] = [:],
        contents: [String: String] = [:]
    ) {
        self.replicated = Set(replicated)
        self.beginning = Set(beginning)
        self.local = Set(local)
        virtualPrefixes = virtual.map { $0 + "_" }
        self.derivations = derivations
        self.contents = contents
    }

    /// Checks that sessions can record the tables.
    ///
    /// - Throws: ``JournalError/unusableTable(_:)``, `DatabaseError`.
    func check(in db: Database) throws {
        for table in replicated.sorted() {
            guard try db.tableExists(table), try keyPlaces(of: table, db).contains(where: { $0 > 0 }) else {
                throw JournalError.unusableTable(table)
            }
        }
    }

    /// Returns the tables of several apps together.
    package init(_ apps: [JournalTables]) {
        replicated = apps.reduce(into: []) { $0.formUnion($1.replicated) }
        local = apps.reduce(into: []) { $0.formUnion($1.local) }
        beginning = apps.reduce(into: []) { $0.formUnion($1.beginning) }
        virtualPrefixes = apps.flatMap(\.virtualPrefixes)
        derivations = apps.reduce(into: [:]) { $0.merge($1.derivations) { first, _ in first } }
        contents = apps.reduce(into: [:]) { $0.merge($1.contents) { first, _ in first } }
    }

    var names: [String] { replicated.sorted() }

    /// Returns these with further replicated tables.
    func adding(_ names: [String]) -> JournalTables {
        var tables = self
        tables.replicated.formUnion(names)
        return tables
    }

    /// Returns a table with rows that a new file does not have; nil if there is none.
    func firstWithRows(_ db: Database) throws -> String? {
        try replicated.subtracting(beginning).sorted().first { table in
            try Int.fetchOne(db, sql: "SELECT 1 FROM \(table.quotedDatabaseIdentifier) LIMIT 1") != nil
        }
    }

    func isReplicated(_ table: String) -> Bool { replicated.contains(table) }

    /// Whether changes of a table may stay out of the journal.
    func isLocal(_ table: String) -> Bool {
        table.hasPrefix("sqlite_") || local.contains(table) || virtualPrefixes.contains { table.hasPrefix($0) }
            || !contents.isEmpty && ["blob", "removed_blob"].contains(table)
    }

    /// Returns the files that rows have got and lost by changes of one transaction.
    func contentChange(_ changes: [Changeset.Change], _ db: Database) throws -> ContentChange {
        var (content, places): (ContentChange, [String: Int]) = (ContentChange(), [:])
        for change in changes {
            guard let column = contents[change.table] else { continue }
            let known = try places[change.table] ?? db.columns(in: change.table).firstIndex { $0.name == column }
            guard let place = known else { throw JournalError.unusableTable(change.table) }
            places[change.table] = place
            content.add(Self.content(place, of: change.old), Self.content(place, of: change.new), change.operation)
        }
        content.settle()
        return content
    }

    private static func content(_ place: Int, of values: [DatabaseValue?]) -> BlobID? {
        values.indices.contains(place) ? values[place].flatMap(BlobID.fromDatabaseValue) : nil
    }

    /// Whether a row names a file.
    func names(_ id: BlobID, _ db: Database) throws -> Bool {
        try contents.contains { table, column in
            let (table, column) = (table.quotedDatabaseIdentifier, column.quotedDatabaseIdentifier)
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE \(column) = ?")
            return try Int.fetchOne(statement, arguments: [id]) != nil
        }
    }

    /// Returns the files that rows name.
    func named(_ db: Database) throws -> [BlobID] {
        try contents.sorted { $0.key < $1.key }.flatMap { table, column in
            let (table, column) = (table.quotedDatabaseIdentifier, column.quotedDatabaseIdentifier)
            return try BlobID.fetchAll(db, sql: "SELECT \(column) FROM \(table) WHERE \(column) IS NOT NULL")
        }
    }

    func derivation(of table: String) -> Derivation? { derivations[table] }

    /// Whether a change can be applied: SQLite would skip a table that has other columns. More columns than those of
    /// the changeset get their defaults.
    func fits(_ change: Changeset.Change, _ db: Database) throws -> Bool {
        guard replicated.contains(change.table), try db.tableExists(change.table) else { return false }
        let places = try keyPlaces(of: change.table, db)
        return places.starts(with: change.keyPlaces) && places.dropFirst(change.keyPlaces.count).allSatisfy { $0 == 0 }
    }

    /// Returns the row that has the key of a change.
    func row(of change: Changeset.Change, _ db: Database) throws -> Row? {
        let columns = try db.columns(in: change.table).filter { $0.primaryKeyIndex > 0 }
        let condition = columns.map { "\($0.name.quotedDatabaseIdentifier) IS ?" }.joined(separator: " AND ")
        let sql = "SELECT * FROM \(change.table.quotedDatabaseIdentifier) WHERE \(condition)"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: StatementArguments(change.key))
    }

    /// Returns the replicated tables that refer to a table, and how.
    func references(to table: String, _ db: Database) throws -> [(child: String, key: ForeignKeyInfo)] {
        try replicated.flatMap { child in
            try db.foreignKeys(on: child).filter { $0.destinationTable.lowercased() == table.lowercased() }
                .map { (child, $0) }
        }
    }

    func keyPlaces(of table: String, _ db: Database) throws -> [UInt8] {
        try db.columns(in: table).map { UInt8(clamping: $0.primaryKeyIndex) }
    }
}

/// The files that rows have got and lost by one transaction.
struct ContentChange: Equatable {
    private(set) var named: Set<BlobID> = []
    /// Their rows have others now: a reader of one may read it to the end.
    private(set) var replaced: Set<BlobID> = []
    /// Their rows are gone.
    private(set) var removed: Set<BlobID> = []

    /// The files that no row has any more.
    var lost: Set<BlobID> { replaced.union(removed) }

    fileprivate mutating func add(_ old: BlobID?, _ new: BlobID?, _ operation: Changeset.Change.Operation) {
        if let new { named.insert(new) }
        guard let old else { return }
        if operation == .delete { removed.insert(old) } else { replaced.insert(old) }
    }

    /// A file that passes from one row to another is neither got nor lost.
    fileprivate mutating func settle() {
        let moved = named.intersection(lost)
        named.subtract(moved)
        replaced.subtract(moved)
        removed.subtract(moved)
    }
}
