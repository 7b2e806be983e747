import Database
import Foundation
import Screens
import SharedStore

extension NoteAccount {
    /// Reads a row of table `notes_account`.
    fileprivate init(_ row: SQLRow) throws {
        self.init(
            id: try row.value("id"),
            name: try row.value("name"),
            password: PasswordHash(
                salt: try row.value("salt"),
                cost: .init(
                    rounds: try row.value("rounds"),
                    blockSize: try row.value("block_size"),
                    parallelism: try row.value("parallelism")
                ),
                digest: try row.value("digest")
            )
        )
    }
}

extension SharedNotes {
    func account(_ name: UserName) async throws -> NoteAccount? {
        let found = try await database.rows("SELECT * FROM notes_account WHERE name_folded = $1", [name.key]) { row in
            (try NoteAccount(row), try row.value("name_key") as String)
        }
        return (found.count == 1 ? found.first : found.first { $0.1 == name.spelling })?.0
    }

    func account(_ id: Int64) async throws -> NoteAccount? {
        try await database.rows("SELECT * FROM notes_account WHERE id = $1", [id]) { try NoteAccount($0) }.first
    }

    func isTaken(_ name: UserName) async throws -> Bool {
        try await !database.rows(Self.selectNamed, [name.key]) { _ in true }.isEmpty
    }

    private static let selectNamed = "SELECT 1 AS found FROM notes_account WHERE name_folded = $1 LIMIT 1"

    func register(_ name: UserName, _ password: PasswordHash, now: Date) async throws -> NoteAccount? {
        try await database.write(turns: ["notes/name/\(name.key)"]) { transaction in
            guard try transaction.rows(Self.selectNamed, [name.key]).first == nil else { return nil }
            let id: Int64? = try transaction.rows(
                """
                INSERT INTO notes_account
                    (name_key, name_folded, name, salt, rounds, block_size, parallelism, digest, created)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (name_key) DO NOTHING RETURNING id
                """,
                [name.spelling, name.key, name.shown] + Self.columns(password) + [now.millisecondsSince1970]
            ).first?.value("id")
            return id.map { NoteAccount(id: $0, name: name.shown, password: password) }
        }
    }

    private static func columns(_ password: PasswordHash) -> [any SQLParameter] {
        let cost = password.cost
        return [password.salt, cost.rounds, cost.blockSize, cost.parallelism, password.digest]
    }

    func open(_ session: Session, of account: NoteAccount, for carrier: SessionCarrier, in sessions: SessionStore)
        async throws -> String
    {
        try await database.write(turns: ["notes/\(account.id)"]) { transaction in
            try Self.check(account, transaction)
            return try sessions.open(session, for: carrier, in: transaction).token
        }
    }

    func rehash(_ old: PasswordHash, by new: PasswordHash, of account: Int64) async throws -> Bool {
        try await database.write(turns: ["notes/\(account)"]) { try Self.replace(old, by: new, of: account, $0) }
    }

    func replace(
        _ old: PasswordHash,
        by new: PasswordHash,
        of account: Int64,
        in sessions: SessionStore,
        except credentials: SessionCredentials?
    ) async throws -> Bool {
        let ended = try await database.write(turns: ["notes/\(account)"]) { transaction -> [Data]? in
            guard try Self.replace(old, by: new, of: account, transaction) else { return nil }
            return try sessions.close(
                app: NoteStore.app,
                account: "\(account)",
                except: credentials,
                in: transaction
            )
        }
        sessions.ended(ended ?? [])
        return ended != nil
    }

    private static func replace(
        _ old: PasswordHash,
        by new: PasswordHash,
        of account: Int64,
        _ transaction: SQLTransaction
    ) throws -> Bool {
        try transaction.execute(
            """
            UPDATE notes_account SET salt = $1, rounds = $2, block_size = $3, parallelism = $4, digest = $5
            WHERE id = $6 AND digest = $7
            """,
            columns(new) + [account, old.digest]
        ) > 0
    }

    private static func check(_ account: NoteAccount, _ transaction: SQLTransaction) throws {
        let digest: Data? = try transaction.rows("SELECT digest FROM notes_account WHERE id = $1", [account.id]).first?
            .value("digest")
        guard digest == account.password.digest else { throw NoteStore.AccountChanged() }
    }

    func delete(_ account: NoteAccount, in sessions: SessionStore) async throws {
        let ended = try await write(of: account.id) { transaction in
            try Self.check(account, transaction)
            for table in ["note_cell", "note", "note_trash"] {
                try transaction.execute("DELETE FROM \(table) WHERE account = $1", [account.id])
            }
            try transaction.execute("DELETE FROM notes_account WHERE id = $1", [account.id])
            return try sessions.close(app: NoteStore.app, account: "\(account.id)", in: transaction)
        }
        sessions.ended(ended)
    }
}
