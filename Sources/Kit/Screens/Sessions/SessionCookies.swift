package import Cluster
import Crypto
import Foundation
package import GRDB
import HTTP
import HTTPTypes
import Server
package import Storage

/// The cookies of sessions: one for each app, named after the data directory or the journal of several servers, since
/// cookies do not know ports: two servers on one host would overwrite each other's.
package struct SessionCookies: Sendable, Equatable {
    /// The prefix of the cookies of all servers of this kind.
    static let common = "larder-"
    /// Seconds that a browser keeps a cookie at most (RFC 6265bis §5.5).
    static let longestAge = 400 * 86_400

    /// The prefix of this server's cookies.
    package let prefix: String

    /// The cookies of the server whose names have this in common.
    package init(instance: String) {
        prefix = "\(Self.common)\(instance)-"
    }

    /// The cookies of a data directory: named after its key.
    ///
    /// - Throws: `StorageError`.
    package init(_ secrets: SealedSecrets) throws {
        let key = try secrets.credentialHashKey()
        self.init(code: HMAC<SHA256>.authenticationCode(for: Self.subject, using: key))
    }

    /// The cookies of several servers: named after their journal.
    package init(ofJournal identity: String) {
        self.init(code: SHA256.hash(data: Self.subject + Data(identity.utf8)))
    }

    private init(code: some Sequence<UInt8>) {
        let letters = Array("abcdefghijklmnopqrstuvwxyz234567")
        self.init(instance: String(code.prefix(6).map { letters[Int($0 & 31)] }))
    }

    private static let subject = Data("larder session cookies".utf8)

    /// The cookies of a server: those that were copied with its rows, else those of the journal that it follows, else
    /// those of its directory.
    ///
    /// - Throws: `StorageError`.
    package init(_ users: UserDatabase) throws {
        let shared = try users.read { db in
            try Self.recorded(db) ?? Journal.identity(db).map { SessionCookies(ofJournal: $0) }
        }
        self = try shared ?? SessionCookies(SealedSecrets(users.database))
    }

    /// Has the names copied with the rows, unless others are.
    ///
    /// - Throws: GRDB's errors.
    package func record(_ db: Database) throws {
        let instance = String(prefix.dropFirst(Self.common.count).dropLast())
        let sql = "INSERT INTO session_cookies VALUES (1, ?) ON CONFLICT DO NOTHING"
        try db.execute(sql: sql, arguments: [instance])
    }

    private static func recorded(_ db: Database) throws -> SessionCookies? {
        try String.fetchOne(db, sql: "SELECT instance FROM session_cookies").map { SessionCookies(instance: $0) }
    }

    /// Returns the name of an app's cookie.
    package func name(of app: String) -> String { prefix + app }

    /// Returns the pairs of app and token in the cookies of a request, in order.
    func tokens(in headerFields: HTTPFields) -> [(app: Substring, token: Substring)] {
        guard headerFields.contains(.cookie) else { return [] }
        return headerFields[values: .cookie].flatMap { CookiePairs.named(prefix, in: $0) }.compactMap { pair in
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let (app, token) = (pair[..<equals].dropFirst(prefix.count), pair[equals...].dropFirst())
            return token.isEmpty ? nil : (app, token)
        }
    }

    /// Returns the value of `Set-Cookie` that keeps a text under the name of an app.
    ///
    /// - Parameter isSecure: whether the browser uses https
    func line(_ app: String, _ value: String, age: Int?, path: String = "/v1", isSecure: Bool) -> String {
        "\(name(of: app))=\(value); Path=\(path); HttpOnly; SameSite=Strict" + (age.map { "; Max-Age=\($0)" } ?? "")
            + (isSecure ? "; Secure" : "")
    }
}

extension HTTPFields {
    /// Removes the cookies of sessions of all servers of this kind: they are for no other server.
    mutating func removeSessionCookies() {
        guard contains(.cookie) else { return }
        let lines = self[values: .cookie].compactMap { CookiePairs.line($0, without: SessionCookies.common) }
        self[values: .cookie] = lines
    }
}

extension ScreenResponse {
    /// Returns the response with the cookie of the session that it opens, if a cookie carries it.
    package func granting(
        _ grant: SessionGrant,
        of app: String,
        _ lifetime: SessionGrant.Lifetime,
        _ request: ScreenRequest
    ) -> ScreenResponse {
        guard grant.carrier == .cookie else { return self }
        let age = lifetime == .lasting ? SessionCookies.longestAge : nil
        return settingCookie(app, grant.token, age: age, request)
    }

    /// Returns the response to a request that has ended its own session: a browser forgets the cookie, and its cached
    /// responses of the account.
    package func endingSession(of app: String, _ request: ScreenRequest) -> ScreenResponse {
        request.credentials.carrier(for: app) == .cookie ? forgettingCookie(app, request) : self
    }

    /// Returns the response with a cookie of this server that only requests of its own pages carry.
    ///
    /// - Parameters:
    ///   - age: Seconds until it is forgotten; nil when the browser is closed.
    ///   - path: The beginning of the paths that it is sent to.
    package func settingCookie(
        _ name: String,
        _ value: String,
        age: Int?,
        path: String = "/v1",
        _ request: ScreenRequest
    ) -> ScreenResponse {
        let isSecure = request.context.browser.isSecure
        let line = request.cookies.line(name, value, age: age, path: path, isSecure: isSecure)
        var response = self
        response.headerFields.append(HTTPField(name: .setCookie, value: line))
        return response
    }

    /// Returns the response by which a browser forgets a cookie, and its cached responses.
    func forgettingCookie(_ name: String, path: String = "/v1", _ request: ScreenRequest) -> ScreenResponse {
        var response = settingCookie(name, "", age: 0, path: path, request)
        response.headerFields[.clearSiteData] = #""cache""#
        return response
    }
}
