import Database
import Foundation
import GRDB

/// A mark as servers share it.
struct SharedMark: Sendable, Equatable {
    let number: Int64
    let path: DiskPath
    let kind: DiskItem.Kind
    let markedAt: Date
}

// The copies of marks that servers share. When a mark is to be compared, and what is kept of it, is each server's own.
extension DiskStore {
    /// Brings the copies of an account's marks up to date. The contents of a mark that has another path now are moved,
    /// those that no mark covers any more are removed. Does nothing if the account is not here.
    ///
    /// - Parameters:
    ///   - marks: All marks of the account.
    ///   - revision: The number of that state.
    ///   - item: A file or folder that is marked now, as it is known.
    func follow(_ marks: [SharedMark], at revision: Int64, of account: String, entering item: DiskItem?) async throws {
        try await database.writeFreeingRoom { [self] db in
            guard try Self.epoch(of: account, db) != nil else { return }
            offlineSignal.follow(revision, of: account, after: db)
            var isChanged = try removeCopies(except: marks, account: account, db)
            for mark in marks where try move(copyOf: mark, account: account, db) { isChanged = true }
            for mark in marks {
                try db.cachedStatement(sql: Self.insertCopy).execute(arguments: [
                    mark.number, account, mark.path.text, mark.kind.rawValue, mark.markedAt.millisecondsSince1970,
                ])
                guard db.changesCount > 0 else { continue }
                isChanged = true
                if let item, item.path == mark.path { try enter([item], account: account, db) }
            }
            guard isChanged else { return }
            try reconsiderRefused(account: account, db)
            bump(account, after: db)
            offlineSignal.changed(account, after: db)
        }
    }

    private func removeCopies(except marks: [SharedMark], account: String, _ db: Database) throws -> Bool {
        let numbers = Set(marks.map(\.number))
        let copies = try Row.fetchAll(db, sql: Self.selectCopies, arguments: [account])
        let gone = try copies.filter { !numbers.contains(try $0.value("number")) }
        for copy in gone {
            let path: String = try copy.value("path")
            try db.execute(sql: Self.deleteMark, arguments: [account, path])
            if let path = DiskPath(path) { try removeUnmarked(at: path, account: account, db) }
        }
        return !gone.isEmpty
    }

    /// Moves a copy to where its mark is.
    private func move(copyOf mark: SharedMark, account: String, _ db: Database) throws -> Bool {
        let arguments: StatementArguments = [mark.number, account]
        guard let text = try String.fetchOne(db, sql: Self.selectPath, arguments: arguments),
            let path = DiskPath(text), path != mark.path
        else { return false }
        // Copies of other marks there are made again.
        try deleteOffline(mark.path, isIncluded: true, account: account, db)
        try moveOffline(path, mark.path, account: account, db)
        return true
    }

    private static let selectCopies = "SELECT number, path FROM disk_offline WHERE account = ?"
    private static let selectPath = "SELECT path FROM disk_offline WHERE number = ? AND account = ?"
    private static let insertCopy = """
        INSERT INTO disk_offline (number, account, path, kind, marked_at, due_at) VALUES (?, ?, ?, ?, ?, 0)
        ON CONFLICT DO NOTHING
        """
}
