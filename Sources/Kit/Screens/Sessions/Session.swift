package import Cluster
import Concurrency
import Crypto
package import Foundation
package import GRDB
import HTTP
package import HTTPTypes
import Server
package import Storage

/// A login to one app, of the same shape for all apps (docs/contract.md, "Sessions").
package struct Session: Sendable, Equatable {
    package enum Kind: String, Sendable, Codable {
        /// An account with a name.
        case user
        /// An account without a name.
        case guest
    }

    /// The app that it belongs to: `ships`, `disk`, …
    package let app: String
    package let kind: Kind
    /// Identity of the account within the app; all data of the account is stored under it.
    package let account: String
    /// Name to show, if there is one.
    package let name: String?
    package let createdAt: Date
    /// Identity of the session, under which an app stores the data of this session only; empty before it is opened. The
    /// token cannot be computed from it.
    package let id: String

    /// The version of the session's screen, which never changes: when it was opened, in milliseconds since 1970 UTC.
    package var version: Int { Int(createdAt.millisecondsSince1970) }

    package init(app: String, kind: Kind, account: String, name: String?, createdAt: Date, id: String = "") {
        self.app = app
        self.kind = kind
        self.account = account
        self.name = name
        self.createdAt = createdAt
        self.id = id
    }
}

/// Makes the bearer tokens of sessions and the form in which they are stored.
package enum SessionToken {
    /// Returns 256 random bits in base64url (RFC 4648 §5).
    package static func make() -> String {
        Data(Randomness.bytes(32, for: "token")).base64URL
    }

    /// Returns the hashes of everything in `Authorization` that may be a token of a session, whatever its scheme: a
    /// token of Larder's must not reach an upstream under another name.
    static func possibleHashes(in headerFields: HTTPFields) -> [Data] {
        headerFields[values: .authorization].compactMap { value in
            value.split(separator: " ").last.map { hash(String($0), .bearer) }
        }
    }

    private static let cookieKey = SymmetricKey(data: Data("larder session cookie".utf8))

    /// Returns the SHA-256 of a token, which suffices for 256 random bits and is useless to a reader of the database.
    /// The hash of a cookie's token is keyed by a constant, so that the token is not valid with another carrier.
    package static func hash(_ token: String, _ carrier: SessionCarrier = .bearer) -> Data {
        let bytes = Data(token.utf8)
        switch carrier {
        case .bearer: return Data(SHA256.hash(data: bytes))
        case .cookie: return Data(HMAC<SHA256>.authenticationCode(for: bytes, using: cookieKey))
        }
    }
}

/// The tokens of sessions that a request carries: that of `Authorization` (RFC 6750 §2.1), else those of its cookies.
package struct SessionCredentials: Sendable {
    /// The hash of the token of `Authorization`; nil without the field.
    private let bearer: Result<Data, Problem>?
    private let cookies: [(app: Substring, token: Substring)]

    /// - Parameter cookies: The cookies that count; nil for none.
    package init(_ headerFields: HTTPFields, cookies: SessionCookies? = nil) {
        let result = Result { () throws(Problem) -> Data? in
            try Self.bearerToken(in: headerFields[values: .authorization]).map { SessionToken.hash($0, .bearer) }
        }
        switch result {
        case .success(let hash): bearer = hash.map { .success($0) }
        case .failure(let problem): bearer = .failure(problem)
        }
        self.cookies = cookies?.tokens(in: headerFields) ?? []
    }

    /// How the token for an app was sent; nil if there is none.
    func carrier(for app: String) -> SessionCarrier? {
        if bearer != nil { return .bearer }
        return cookies.contains { $0.app == app } ? .cookie : nil
    }

    /// Returns the hash of the token for an app; nil if there is none. That of `Authorization` may be for any app.
    ///
    /// - Throws: 401 `session-required` if `Authorization` has another scheme or is malformed, or if two cookies of one
    ///   name differ. A page of another port may have set one of them.
    func tokenHash(of app: String) throws(Problem) -> Data? {
        if let bearer { return try bearer.get() }
        return try cookieHash(of: app)
    }

    /// Returns the hash of the token of `Authorization`, for whichever app; nil if there is none.
    ///
    /// - Throws: As ``tokenHash(of:)``.
    func bearerHash() throws(Problem) -> Data? { try bearer?.get() }

    /// Returns the hash of the token in the cookie of an app; nil if there is none.
    ///
    /// - Throws: As ``tokenHash(of:)``.
    func cookieHash(of app: String) throws(Problem) -> Data? {
        guard cookies.contains(where: { $0.app == app }) else { return nil }
        guard let token = text(keptIn: app) else {
            throw Problem(.sessionRequired, "There are two cookies for the session; delete those of this host.")
        }
        return SessionToken.hash(token, .cookie)
    }

    /// The text that ``ScreenResponse/settingCookie(_:_:age:path:_:)`` has kept under a name; nil if there is none, or
    /// two that differ.
    package func text(keptIn name: String) -> String? {
        let own = cookies.filter { $0.app == name }
        guard let first = own.first, own.allSatisfy({ $0.token == first.token }) else { return nil }
        return String(first.token)
    }

    /// Returns the token of `Authorization: Bearer …`; nil if there is no field.
    /// - Throws: 401 `session-required` if the field has another scheme or is malformed.
    static func bearerToken(in authorization: [String]) throws(Problem) -> String? {
        guard let value = authorization.first else { return nil }
        guard authorization.count == 1, let token = BearerToken.parse(value) else {
            throw Problem(
                .sessionRequired,
                "Authorization must be: Bearer, a space, and the token that opening a session returned."
            )
        }
        return token
    }
}

/// How a client keeps the token of a session, and sends it. The carrier is part of the session: a token is not valid
/// with the other one (decision 114).
package enum SessionCarrier: String, Sendable {
    /// The client itself, by `Authorization: Bearer …` (RFC 6750).
    case bearer
    /// A browser, in a cookie that its scripts cannot read (RFC 6265).
    case cookie
}

extension HTTPField.Name {
    /// `Larder-Session`: the way in which a client keeps the token of a new session. No form can send this field.
    package static let larderSession = HTTPField.Name(literal: "Larder-Session")
    /// `Clear-Site-Data`, W3C: the data of this origin that a browser forgets.
    static let clearSiteData = HTTPField.Name(literal: "Clear-Site-Data")
}

/// The token of a session that was just opened, as its screen shows it: null if a cookie carries it.
package struct SessionGrant: Encodable, Sendable {
    /// Until when a browser keeps the cookie.
    package enum Lifetime: Sendable {
        case untilBrowserCloses
        /// As long as browsers keep cookies.
        case lasting
    }

    let token: String
    let carrier: SessionCarrier

    /// The token of a session that was opened for a carrier.
    package init(_ token: String, _ carrier: SessionCarrier) {
        self.token = token
        self.carrier = carrier
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch carrier {
        case .bearer: try container.encode(token)
        case .cookie: try container.encodeNil()
        }
    }
}

extension ScreenRequest {
    /// Returns the carrier that `Larder-Session` asks for.
    ///
    /// - Throws: ``Problem``, 400 for a value other than `cookie`, 403 if a page of another origin asks for a cookie.
    package func sessionCarrier() throws(Problem) -> SessionCarrier {
        let values = headerFields[values: .larderSession]
        guard let value = values.first else { return .bearer }
        guard values.count == 1, value == SessionCarrier.cookie.rawValue else {
            throw Problem(
                .invalidParameter,
                "Larder-Session must be cookie, in lower case and once; without the field the token is a bearer's."
            )
        }
        guard context.browser.mayGetCookies else {
            throw Problem(.originNotAllowed, "Only pages of this server get cookies.")
        }
        return .cookie
    }
}

/// The cookies of sessions, one for each app. They are named after the data directory, or the journal of several
/// servers, since cookies do not know ports: two servers on one host would overwrite each other's.
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

    /// Stores the name among the rows that servers and backups copy, unless one is stored.
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
    ///   - age: Lifetime in seconds; nil until the browser is closed.
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
