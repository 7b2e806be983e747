import Concurrency
import Crypto
package import Foundation

/// Makes the bearer tokens of sessions and the form in which they are stored.
package enum SessionToken {
    /// Returns 256 random bits in base64url (RFC 4648 §5).
    package static func make() -> String {
        Data(Randomness.bytes(32, for: "token")).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static let cookieKey = SymmetricKey(data: Data("larder session cookie".utf8))

    /// Returns the SHA-256 of a token: enough for 256 random bits, and useless to a reader of the database. That of a
    /// cookie's is keyed by a constant, so that the token opens nothing by another carrier.
    package static func hash(_ token: String, _ carrier: SessionCarrier = .bearer) -> Data {
        let bytes = Data(token.utf8)
        switch carrier {
        case .bearer: return Data(SHA256.hash(data: bytes))
        case .cookie: return Data(HMAC<SHA256>.authenticationCode(for: bytes, using: cookieKey))
        }
    }
}
