import Cluster
import Foundation
import GRDB
import Screens
import Storage

// Logins that have begun in a browser (RFC 7636: the verifier stays here until the code comes).
extension DiskStore {
    /// Seconds that a login in the browser may take; the code expires after the same time.
    static let authorizationLifetime: TimeInterval = 600

    private static let authorizations = "disk/authorization"

    static func key(of state: String) -> String { SessionToken.hash(state).base64EncodedString() }

    func beginAuthorization(state: String, verifier: String, at now: Date) async throws {
        let key = Self.key(of: state)
        try await users.write(scope: Self.authorizations) { [self] db in
            let limit = now.addingTimeInterval(-Self.authorizationLifetime).millisecondsSince1970
            for old in try String.fetchAll(
                db,
                sql: "DELETE FROM disk_authorization WHERE created_at < ? RETURNING state",
                arguments: [limit]
            ) {
                try secrets.remove(name: "disk/authorization/\(old)", in: db)
            }
            try db.execute(
                sql: "INSERT INTO disk_authorization (state, created_at) VALUES (?, ?)",
                arguments: [key, now.millisecondsSince1970]
            )
            try secrets.store(Data(verifier.utf8), name: "disk/authorization/\(key)", in: db)
        }
    }

    /// Returns the verifier of a login that has begun, once; nil if the state is unknown, expired or used.
    func endAuthorization(state: String, at now: Date) async throws -> String? {
        let key = Self.key(of: state)
        return try await users.write(scope: Self.authorizations) { [self] db in
            let limit = now.addingTimeInterval(-Self.authorizationLifetime).millisecondsSince1970
            let name = "disk/authorization/\(key)"
            let verifier = try secrets.secret(name: name, in: db)
            try secrets.remove(name: name, in: db)
            let isKnown = try Int64.fetchOne(
                db,
                sql: "DELETE FROM disk_authorization WHERE state = ? RETURNING created_at",
                arguments: [key]
            )
            guard let begun = isKnown, begun >= limit else { return nil }
            return verifier.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
