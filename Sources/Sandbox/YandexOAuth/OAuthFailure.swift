import HTTPTypes

/// An error of the OAuth service: not the shape of the Disk's.
struct OAuthFailure: Error, Equatable {
    let error: String
    let description: String

    var response: UpstreamResponse {
        .json(
            .badRequest,
            ["error_description": .string(description), "error": .string(error)],
            type: "application/json"
        )
    }

    static let badCode = OAuthFailure(error: "bad_verification_code", description: "Invalid code")
    static let expiredCode = OAuthFailure(error: "invalid_grant", description: "Code has expired")
    static let pending = OAuthFailure(
        error: "authorization_pending",
        description: "User has not yet authorized your application"
    )
    /// Not recorded: the code of RFC 8628 §3.5.
    static let denied = OAuthFailure(error: "access_denied", description: "User has denied access")
    static let badRefreshToken = OAuthFailure(error: "invalid_grant", description: "expired_token")
    static let badVerifier = OAuthFailure(error: "invalid_grant", description: "code_verifier not matched")
    static let badClient = OAuthFailure(error: "invalid_client", description: "Client not found")
    static let badSecret = OAuthFailure(error: "invalid_client", description: "Wrong client secret")
    static let badTokenType = OAuthFailure(
        error: "unsupported_token_type",
        description: "Token is not of a device or is not this client's"
    )

    static func missing(_ field: String) -> OAuthFailure {
        OAuthFailure(error: "invalid_request", description: "\(field) not in POST")
    }
    static func grantType(_ type: String) -> OAuthFailure {
        OAuthFailure(error: "unsupported_grant_type", description: "Unknown grant_type '\(type)'")
    }
}
