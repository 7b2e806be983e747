public import Foundation
import HTTPSemantics
public import HTTPTypes

/// The bearer token of a request (RFC 6750 §2.1), read and hashed once.
public struct BearerCredential: Sendable {
    private let result: Result<Data?, Problem>

    /// Reads `Authorization` of a request.
    public init(_ headerFields: HTTPFields) {
        result = Result { () throws(Problem) -> Data? in
            try Self.token(in: headerFields[values: .authorization]).map(SessionToken.hash)
        }
    }

    /// The hash of the token; nil if the request has no `Authorization`.
    /// - Throws: 401 `session-required` if the field has another scheme or is malformed.
    public var tokenHash: Data? {
        get throws(Problem) { try result.get() }
    }

    /// Returns the token of `Authorization: Bearer …`; nil if there is no field.
    /// - Throws: 401 `session-required` if the field has another scheme or is malformed.
    static func token(in authorization: [String]) throws(Problem) -> String? {
        guard let value = authorization.first else { return nil }
        guard authorization.count == 1, let token = BearerToken.parse(value) else {
            throw Problem(
                .sessionRequired,
                "Authorization must be: Bearer, a space, and the token that opening a session answered."
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
            value.split(separator: " ", omittingEmptySubsequences: true).last.map { SessionToken.hash(String($0)) }
        }
    }
}
