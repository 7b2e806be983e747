import Crypto
public import Foundation
import HTTPSemantics

/// Makes the bearer tokens of sessions and the form in which they are stored.
public enum SessionToken {
    /// 256 random bits in base64url (RFC 4648 §5), opaque to everybody.
    public static func make() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// SHA-256: enough for a token of 256 random bits, and what a thief of the database gets opens nothing.
    public static func hash(_ token: String) -> Data {
        Data(SHA256.hash(data: Data(token.utf8)))
    }

    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1); nil where there is none. 401 if the field is of another
    /// kind or broken.
    static func bearer(in authorization: [String]) throws -> String? {
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
