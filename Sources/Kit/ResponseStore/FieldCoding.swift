import Database
package import Foundation
package import HTTPTypes

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

    /// Decodes fields; nil if the bytes were not made by ``encode(_:)``.
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
