import Crypto
public import Foundation

/// Makes the bearer tokens of sessions and the form in which they are stored.
public enum SessionToken {
    /// Returns 256 random bits in base64url (RFC 4648 §5).
    public static func make() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns the SHA-256 of a token: enough for 256 random bits, and useless to a reader of the database.
    public static func hash(_ token: String) -> Data {
        Data(SHA256.hash(data: Data(token.utf8)))
    }
}
