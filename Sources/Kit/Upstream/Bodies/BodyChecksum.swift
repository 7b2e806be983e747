public import Crypto

/// The MD5 checksum that a body is announced to have.
public struct BodyChecksum: Sendable, Equatable {
    private let bytes: [UInt8]

    /// Parses a checksum of 32 hexadecimal digits. Nil for any other text: some APIs send checksums of other kinds in
    /// the same place.
    public init?(md5 text: String) {
        guard text.utf8.count == 32 else { return nil }
        let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard digits.count == 32 else { return nil }
        bytes = stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    /// Whether a finished hash is this checksum.
    public func matches(_ hash: Insecure.MD5) -> Bool { Array(hash.finalize()) == bytes }
}
