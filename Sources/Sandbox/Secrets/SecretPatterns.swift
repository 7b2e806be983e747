import Foundation

/// Texts that are looked for together, in one pass over bytes: each secret as it is, and as other formats write it.
struct SecretPatterns: Sendable {
    private struct Pattern {
        let bytes: [UInt8]
        let secret: String
    }

    private(set) var secrets: Set<String> = []
    /// By their first two bytes; the longest first.
    private var patterns: [UInt16: [Pattern]] = [:]
    /// A bit for each pair of bytes with which a pattern begins; empty without patterns.
    private var starts: [UInt64] = []

    var isEmpty: Bool { secrets.isEmpty }

    mutating func add(_ secret: String) {
        guard secret.utf8.count > 3, secrets.insert(secret).inserted else { return }
        if starts.isEmpty { starts = Array(repeating: 0, count: 1 << 10) }
        for bytes in Self.spellings(of: secret) {
            let start = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
            starts[Int(start >> 6)] |= 1 << UInt64(start & 63)
            patterns[start, default: []].append(Pattern(bytes: bytes, secret: secret))
            patterns[start]?.sort { $0.bytes.count > $1.bytes.count }
        }
    }

    /// Returns the bytes with every secret replaced; nil if there is none.
    func replaced(in bytes: [UInt8], by placeholder: (String) -> String) -> [UInt8]? {
        guard !isEmpty, bytes.count > 3 else { return nil }
        var (written, position, copied) = ([UInt8](), 0, 0)
        bytes.withUnsafeBufferPointer { bytes in
            while position + 1 < bytes.count {
                guard let found = match(bytes, at: position) else {
                    position += 1
                    continue
                }
                written += bytes[copied..<position]
                written += placeholder(found.secret).utf8
                position += found.bytes.count
                copied = position
            }
        }
        return copied == 0 ? nil : written + bytes[copied...]
    }

    private func match(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Pattern? {
        let start = UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
        guard starts[Int(start >> 6)] & (1 << UInt64(start & 63)) != 0 else { return nil }
        return patterns[start]?.first { pattern in
            pattern.bytes.count <= bytes.count - position
                && bytes[position..<position + pattern.bytes.count].elementsEqual(pattern.bytes)
        }
    }

    /// The secret, percent-encoded, escaped for JSON and HTML, and as a part of Base64.
    private static func spellings(of secret: String) -> Set<[UInt8]> {
        var texts = [
            secret, secret.replacing("/", with: "\\/"),
            String(decoding: JSONValue.string(secret).serialized().dropFirst().dropLast(), as: UTF8.self),
            secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
                .replacing("\"", with: "&quot;").replacing("'", with: "&#39;"),
        ]
        let percent = FormEncoding.encoded(secret)
        texts += [percent, percent.replacing("+", with: "%20")]
        texts += [
            percent.replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() },
            percent.replacing("+", with: "%20").replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() },
        ]
        var spellings = Set(texts.map { Array($0.utf8) })
        for shift in 0..<3 {
            let standard = base64(Array(secret.utf8), after: shift)
            guard standard.count >= 6 else { continue }
            spellings.insert(standard)
            spellings.insert(standard.map { $0 == UInt8(ascii: "+") ? 0x2D : $0 == UInt8(ascii: "/") ? 0x5F : $0 })
        }
        return spellings
    }

    /// The letters of Base64 that tell the secret and nothing else, if so many bytes are before it.
    private static func base64(_ secret: [UInt8], after shift: Int) -> [UInt8] {
        let text = Data(repeatElement(0, count: shift) + secret).base64EncodedString()
        let letters = (8 * shift + 5) / 6..<8 * (shift + secret.count) / 6
        return letters.isEmpty ? [] : Array(Array(text.utf8)[letters])
    }
}
