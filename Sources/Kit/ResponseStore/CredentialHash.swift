public import Crypto
import Database
public import Foundation

/// HMAC-SHA-256 of a credential (RFC 2104): identifies the owner of a response without storing the credential.
///
/// The key prevents that guessed credentials are tried out on a copied database.
public struct CredentialHash: Hashable, Sendable {
    let bytes: Data

    /// Hashes a credential, such as the value of an `Authorization` field.
    public init(of credential: some DataProtocol, key: SymmetricKey) {
        bytes = Data(HMAC<SHA256>.authenticationCode(for: credential, using: key))
    }

    /// Hashes the UTF-8 bytes of a credential.
    public init(of credential: String, key: SymmetricKey) {
        self.init(of: Data(credential.utf8), key: key)
    }

    init(bytes: Data) {
        self.bytes = bytes
    }
}

extension CredentialHash? {
    /// The value of column `credential`: empty bytes for a shared response, because NULLs are distinct in a unique
    /// index.
    var columnValue: Data { self?.bytes ?? Data() }

    init(columnValue: Data) {
        self = columnValue.isEmpty ? nil : CredentialHash(bytes: columnValue)
    }
}
