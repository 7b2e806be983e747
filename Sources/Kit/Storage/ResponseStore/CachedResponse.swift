package import Crypto
package import Foundation
package import HTTP
package import HTTPTypes

/// A part of a body that was received in parts.
struct StoredPart: Sendable, Equatable {
    var id: Int64
    /// Positions of its bytes in the whole.
    var range: Range<Int>
    /// The file that has them; nil if the database does.
    var blob: Blob?
}

/// A response of an upstream with its body, as the database stores it.
package struct CachedResponse: Sendable, Equatable {
    /// Identity of a stored response. It stays if a newer response replaces the variant, and is never reused.
    package typealias ID = Int64

    /// The identity; nil for a response that was not stored yet.
    package var id: ID?
    /// Name of the upstream, such as `spacex`. Part of the key, so that responses of one upstream are never served for
    /// another.
    package var upstream: String
    /// The credential that it belongs to; nil if it is shared.
    package var credential: CredentialHash?
    /// Everything but the body. Times are stored to the millisecond.
    package var head: CachedResponseHead
    /// The body; empty for a response whose head has parts.
    package var body: StoredBody
    /// The parts of the body of such a response, in ascending order.
    var parts: [StoredPart] = []
    /// When this content was received; a validation, or the same content again, does not change it. To the millisecond.
    package var contentTime: Date
    /// When it last served a request; decides the order of eviction.
    package var lastUsed: Date
    /// Whether it was invalidated by a write to its target: it must be validated before it is used as fresh (RFC 9111
    /// §4.4).
    package var isInvalidated: Bool
    /// Whether it is excluded from eviction, because an app made rows of it: without it the age of the rows is unknown.
    /// It stays pinned until it is replaced or removed.
    package var isPinned: Bool

    /// - Parameters:
    ///   - contentTime: Nil: when it was received.
    ///   - lastUsed: Nil: when it was received.
    package init(
        id: ID? = nil,
        upstream: String,
        credential: CredentialHash? = nil,
        head: CachedResponseHead,
        body: StoredBody,
        contentTime: Date? = nil,
        lastUsed: Date? = nil,
        isInvalidated: Bool = false,
        isPinned: Bool = false
    ) {
        self.id = id
        self.upstream = upstream
        self.credential = credential
        self.head = head
        self.body = body
        self.contentTime = contentTime ?? head.responseTime
        self.lastUsed = lastUsed ?? head.responseTime
        self.isInvalidated = isInvalidated
        self.isPinned = isPinned
    }
}

/// Encodes header fields as bytes: for each field the length of the name, the name, the length of the value, the value.
/// Lengths are LEB128.
///
/// Order, repeats, case of names and bytes of values beyond ASCII are preserved; HPACK's indexing strategy is not.
package enum FieldCoding {
    static func encode(_ fields: HTTPFields) -> Data {
        var bytes = Data()
        for field in fields {
            append(Data(field.name.rawName.utf8), to: &bytes)
            append(field.withUnsafeBytesOfValue { Data($0) }, to: &bytes)
        }
        return bytes
    }

    /// Returns the canonical form of fields: names in lower case and sorted, values of one name in their order.
    static func canonicalForm(of fields: HTTPFields) -> HTTPFields {
        let sorted = fields.enumerated().sorted { left, right in
            let (a, b) = (left.element.name.canonicalName, right.element.name.canonicalName)
            return a == b ? left.offset < right.offset : a < b
        }
        var result = HTTPFields()
        for (_, field) in sorted {
            guard let name = HTTPField.Name(parsed: field.name.canonicalName) else { continue }
            result.append(HTTPField(name: name, lenientValue: field.withUnsafeBytesOfValue { Array($0) }))
        }
        return result
    }

    /// Decodes fields; nil if the bytes were not made by `encode(_:)`.
    package static func decode(_ bytes: Data) -> HTTPFields? {
        bytes.withUnsafeBytes { bytes -> HTTPFields? in
            var rest = bytes
            var fields = HTTPFields()
            while !rest.isEmpty {
                guard let rawName = takePart(from: &rest), let value = takePart(from: &rest) else { return nil }
                let text = String(decoding: rawName, as: UTF8.self)
                // `append` traps on a pseudo-header field, and on more fields than it counts. Neither was ever stored.
                guard let name = HTTPField.Name(text) ?? HTTPField.Name(parsed: text), !text.hasPrefix(":"),
                    fields.count < UInt16.max - 1
                else { return nil }
                fields.append(HTTPField(name: name, lenientValue: value))
            }
            return fields
        }
    }

    private static func append(_ part: Data, to bytes: inout Data) {
        var length = UInt(part.count)
        while length >= 0x80 {
            bytes.append(UInt8(length & 0x7F) | 0x80)
            length >>= 7
        }
        bytes.append(UInt8(length))
        bytes.append(part)
    }

    private typealias Bytes = UnsafeRawBufferPointer

    private static func takePart(from rest: inout Bytes) -> Bytes? {
        var length: UInt = 0
        var shift: UInt = 0
        for (index, byte) in rest.enumerated() {
            length |= UInt(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                let start = index + 1
                guard length <= UInt(rest.count - start) else { return nil }
                let end = start + Int(length)
                defer { rest = Bytes(rebasing: rest[end...]) }
                return Bytes(rebasing: rest[start..<end])
            }
            shift += 7
            if shift > 56 { return nil }
        }
        return nil
    }
}

/// Creates ``CredentialHash``es with one key, without giving access to the key.
package struct CredentialHasher: Sendable {
    let key: SymmetricKey

    /// Hashes the UTF-8 bytes of a credential.
    package func hash(_ credential: String) -> CredentialHash {
        CredentialHash(of: credential, key: key)
    }
}

extension SealedSecrets {
    /// Returns a hasher with the key of ``credentialHashKey()``; blocks until the key is read.
    package func credentialHasher() throws -> CredentialHasher {
        CredentialHasher(key: try credentialHashKey())
    }
}

/// HMAC-SHA-256 of a credential (RFC 2104): identifies the owner of a response without storing the credential.
///
/// The key prevents that guessed credentials are tried out on a copied database.
package struct CredentialHash: Hashable, Sendable {
    let bytes: Data

    /// The hash in hexadecimal, for keys that are text.
    package var text: String { bytes.hexadecimal }
}

extension CredentialHash {
    /// Hashes the UTF-8 bytes of a credential, such as the value of an `Authorization` field.
    package init(of credential: String, key: SymmetricKey) {
        self.init(bytes: Data(HMAC<SHA256>.authenticationCode(for: Data(credential.utf8), using: key)))
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
