import Crypto
public import Database

/// Makes ``CredentialHash``es with one key, for those who have no business with the key itself.
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
    /// Hashes with the key of ``credentialHashKey()``; blocks until that key is at hand.
    public func credentialHasher() throws -> CredentialHasher {
        CredentialHasher(key: try credentialHashKey())
    }
}

extension CredentialHash {
    /// The hash in hexadecimal: what stands for a credential where text is expected.
    public var text: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
