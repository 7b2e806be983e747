public import Crypto
import Database
public import Foundation

/// HMAC-SHA-256 of a credential (RFC 2104): tells whose a response is without keeping what opens the account.
///
/// The key makes a copied database useless for trying out guessed credentials.
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
    /// What column `credential` holds: empty bytes for a shared answer, because NULLs would not meet in a unique index.
    var columnValue: Data { self?.bytes ?? Data() }

    init(columnValue: Data) {
        self = columnValue.isEmpty ? nil : CredentialHash(bytes: columnValue)
    }
}
