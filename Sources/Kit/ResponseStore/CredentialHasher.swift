import Crypto
public import Database

/// Creates ``CredentialHash``es with one key, without giving access to the key.
public struct CredentialHasher: Sendable {
    private let key: SymmetricKey

    init(key: SymmetricKey) {
        self.key = key
    }

    /// Hashes the UTF-8 bytes of a credential.
    public func hash(_ credential: String) -> CredentialHash {
        CredentialHash(of: credential, key: key)
    }
}

extension SealedSecrets {
    /// Returns a hasher with the key of ``credentialHashKey()``; blocks until the key is read.
    ///
    /// - Throws: ``StorageError``.
    public func credentialHasher() throws -> CredentialHasher {
        CredentialHasher(key: try credentialHashKey())
    }
}

extension CredentialHash {
    /// The hash in hexadecimal, for keys that are text.
    public var text: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
