import Database
import Foundation
import Freshness
import Screens
import TextSearch
import Upstream

extension NoteStore: NoteBook {
    /// Name of the app, of whose sessions an account has some.
    static let app = "notes"

    func open(_ session: Session, of account: NoteAccount, for carrier: SessionCarrier, in sessions: SessionStore)
        async throws -> String
    {
        try await database.write { db in
            try Self.check(account, db)
            return try sessions.open(session, for: carrier, in: db).token
        }
    }

    func rehash(_ old: PasswordHash, by new: PasswordHash, of account: Int64) async throws -> Bool {
        try await replace(old, by: new, of: account)
    }

    func replace(
        _ old: PasswordHash,
        by new: PasswordHash,
        of account: Int64,
        in sessions: SessionStore,
        except credentials: SessionCredentials?
    ) async throws -> Bool {
        try await replace(old, by: new, of: account) { db in
            try sessions.close(app: Self.app, account: "\(account)", except: credentials, in: db)
        }
    }

    func delete(_ account: NoteAccount, in sessions: SessionStore) async throws {
        try await delete(account) { db in
            try sessions.close(app: Self.app, account: "\(account.id)", in: db)
        }
    }

    func loginLimits(_ limits: LoginAttempts.Limits) -> any LoginLimits { LoginGate(limits) }

    func placesReader(_ search: WordQuery, account: Int64, limit: Int) -> () throws -> [Note.Location] {
        { try places(search, account: account, limit: limit) }
    }

    var peopleToken: ChangeToken { ChangeToken(of: peopleChanges) }

    var keepsPictures: Bool { true }

    func personReader(_ id: Int64?) -> () throws -> (person: Person?, snapshot: PeopleSnapshot?) {
        {
            try database.read { _ in
                (person: try id.flatMap { try person($0) }, snapshot: try snapshot())
            }
        }
    }

    func fetchPeople(
        _ client: PeopleClient,
        _ cachePolicy: CachePolicy,
        replacing snapshot: PeopleSnapshot?,
        now: Date,
        changed: @escaping @Sendable (_ snapshot: Int) -> Void
    ) async throws -> ReadResult {
        let stamp = peopleChanges
        let (result, persistRows) = try await client.readPeople(cachePolicy, storedAt: snapshot?.fetchedAt) { people in
            Self.persistRows(of: people, fetchedAt: now) { number in
                stamp.bump()
                changed(number)
            }
        }
        // A response that was stored without its rows, because the mount of the upstream has fetched it.
        if let persistRows, try self.snapshot() == nil { try await write(persistRows) }
        return result
    }
}
