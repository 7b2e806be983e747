import Testing

@testable import Sandbox

@Suite struct SecretNameTests {
    @Test(
        "HARN-33 a name is known however it is spelled",
        arguments: [
            "accessToken", "access_token", "Access-Token", "ACCESS_TOKEN", "accesstoken", "clientSecret", "privateKey",
            "X-API-Key", "apiKey", "jwt", "pwd", "bearer", "credential", "credentials", "refreshToken", "userPassword",
            "password2", "new_password", "passwordHash", "user[password]", "sessionId", "CSRFToken", "secretAccessKey",
            "db.password", "Authorization", "Set-Cookie", "otp", "pin", "wsse:Password", "auth",
        ]
    )
    func known(name: String) {
        #expect(SecretName.extent(of: name, in: .member) != .nothing)
    }

    @Test(
        "a name that only has the word of a secret is none",
        arguments: [
            "token_type", "tokenCount", "expires_in", "nextPageToken", "next_token", "password_changed_at", "author",
            "shopping", "desktop", "monkey", "key", "code", "signature", "secretary", "spin", "compass", "bypass",
            "credentialType", "cookie_policy", "hash", "value", "", "x", String(repeating: "token", count: 20),
        ]
    )
    func harmless(name: String) {
        #expect(SecretName.extent(of: name, in: .member) == .nothing)
    }

    @Test("a code is one of a login in forms, a key a secret in queries")
    func places() {
        #expect(SecretName.extent(of: "code", in: .form) != .nothing)
        #expect(
            SecretName.extent(of: "key", in: .query) != .nothing && SecretName.extent(of: "key", in: .form) == .nothing
        )
        #expect(SecretName.extent(of: "idempotency-key", in: .field) == .nothing)
        #expect(SecretName.extent(of: "x-csrf-token", in: .field) != .nothing)
    }
}
