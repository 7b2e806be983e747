import Crypto
import CryptoExtras
import Foundation

/// A password as it is stored: scrypt (RFC 7914) of it with a salt of its own, and the parameters that made it.
struct PasswordHash: Sendable, Equatable {
    /// The cost of a hash.
    struct Cost: Sendable, Equatable {
        /// N of RFC 7914, a power of two: proportional to time and memory.
        var rounds: Int
        /// r: 128 · r · N bytes of memory.
        var blockSize: Int
        /// p: independent runs.
        var parallelism: Int

        /// N = 2^`logarithm`, r = 8, p = 3. With N = 2^15, 32 MiB at a time, that is one of the choices of OWASP's
        /// Password Storage Cheat Sheet.
        static func scrypt(logarithm: Int) -> Cost { Cost(rounds: 1 << logarithm, blockSize: 8, parallelism: 3) }
    }

    /// 16 random bytes.
    let salt: Data
    let cost: Cost
    /// 32 bytes.
    let digest: Data

    /// Hashes a password, which takes a good part of a second and the memory of `cost`.
    ///
    /// - Throws: an error of the KDF.
    init(of password: Password, cost: Cost, salt: Data = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) })
        throws
    {
        self.salt = salt
        self.cost = cost
        digest = try Self.derive(password, salt, cost)
    }

    /// A stored hash.
    init(salt: Data, cost: Cost, digest: Data) {
        self.salt = salt
        self.cost = cost
        self.digest = digest
    }

    /// Returns whether a password matches; takes as long as hashing it in both cases.
    ///
    /// - Throws: an error of the KDF.
    func matches(_ password: Password) throws -> Bool {
        let candidate = try Self.derive(password, salt, cost)
        // Every byte is compared, so that the time does not depend on where they differ.
        return candidate.count == digest.count && zip(candidate, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func derive(_ password: Password, _ salt: Data, _ cost: Cost) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: password.bytes,
            salt: salt,
            outputByteCount: 32,
            rounds: cost.rounds,
            blockSize: cost.blockSize,
            parallelism: cost.parallelism
        ).withUnsafeBytes { Data($0) }
    }
}
