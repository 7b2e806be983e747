import Foundation
import HTTPSemantics
package import HTTPTypes

/// The tokens of sessions that a request carries: that of `Authorization` (RFC 6750 §2.1), else those of its cookies.
package struct SessionCredentials: Sendable {
    /// The hash of the token of `Authorization`; nil without the field.
    private let bearer: Result<Data, Problem>?
    private let cookies: [(app: Substring, token: Substring)]

    /// Reads the fields of a request.
    ///
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
    /// - Throws: 401 `session-required` if `Authorization` has another scheme or is malformed, or if two cookies of
    ///   one name differ: then a page of another port may have set one of them.
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

    /// The text that ``ScreenResponse/settingCookie(_:_:age:_:)`` has kept under a name; nil if there is none, or two
    /// that differ.
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

/// The hashes of everything in `Authorization` that may be a token of a session, whatever its scheme: a token of
/// Larder's must not reach an upstream under another name.
struct PossibleTokens: Sendable {
    let hashes: [Data]

    init(in headerFields: HTTPFields) {
        hashes = headerFields[values: .authorization].compactMap { value in
            value.split(separator: " ", omittingEmptySubsequences: true).last.map {
                SessionToken.hash(String($0), .bearer)
            }
        }
    }
}
