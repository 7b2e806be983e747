import HTTPSemantics
import NIOCore

/// A request head without the fields that differ by client, way or request, and that no response depends on unless its
/// `Vary` names them. See docs/decisions/0014.
struct SignificantHead {
    /// What is left, followed by what the fields that were left out select.
    let bytes: ByteBuffer
    /// Whether cookies were left out, except the server's own.
    let hadCookies: Bool

    /// Field lines that a head may have; one with more is passed on as it is.
    private static let maximumLines = ConnectionLimits.standard.headerCount

    /// Names of the fields, lower case: what proxies say of the request's way, what tracing adds, what browsers say of
    /// themselves. The identity of the request is written into each response.
    static let insignificant = [
        "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto",
        "x-forwarded-server", "x-real-ip",
        "traceparent", "tracestate", "baggage", "x-request-id",
        "user-agent", "accept-language", "referer", "dnt", "sec-gpc", "sec-ch-ua", "sec-ch-ua-mobile",
        "sec-ch-ua-platform",
    ]
    private static let names = insignificant.map { Array($0.utf8) }
    /// The letters that the names begin with, as bits.
    private static let letters = names.reduce(UInt32(0)) { $0 | 1 << UInt32($1[0] & 0x1F) }

    /// Whether a response whose `Vary` has these members depends on fields that are left out.
    static func isNamed(in vary: [String]) -> Bool {
        vary.contains { $0 == "*" || $0 == "cookie" || insignificant.contains($0) }
    }

    /// Takes these fields out of a head. Nil if there is no such field, or if another reader could divide the head
    /// otherwise: lines that continue others (RFC 9112 §5.2), values with other bytes than visible ASCII, spaces and
    /// tabs.
    ///
    /// - Parameters:
    ///   - languages: The languages that the server speaks, by their tags; the preferred one follows the head.
    ///   - cookies: What the names of the server's own cookies begin with; those follow the head. Nil leaves `Cookie`
    ///     where it is.
    init?(_ head: ByteBuffer, _ languages: [String] = [], cookies: String? = nil) {
        var (selected, preferences, pairs) = (Selected(), [String](), [Substring]())
        let isDivided = head.withUnsafeReadableBytes { bytes -> Bool in
            var lines = FieldLines(bytes)
            var count = 0
            while let line = lines.next() {
                count += 1
                guard count <= Self.maximumLines, bytes[line.lowerBound] != 0x20, bytes[line.lowerBound] != 0x09 else {
                    return false
                }
                let isCookie = cookies != nil && Self.isCookie(bytes, line)
                guard let name = isCookie ? Self.cookie.count : Self.nameLength(bytes, line) else { continue }
                guard bytes[line.upperBound] == 0x0D, bytes[line].dropFirst(name).allSatisfy(Self.isPlain) else {
                    return false
                }
                selected.leaveOut(line, of: bytes)
                func value() -> String { String(decoding: bytes[line].dropFirst(name + 1), as: UTF8.self) }
                if isCookie, let cookies {
                    selected.hadCookies = true
                    pairs += CookiePairs.named(cookies, in: value())
                } else if name == Self.acceptLanguage.count, Self.equals(bytes[line].prefix(name), Self.acceptLanguage)
                {
                    preferences.append(value())
                }
            }
            selected.finish(bytes)
            return true
        }
        guard isDivided, var kept = selected.kept else { return nil }
        if !preferences.isEmpty, let language = AcceptedLanguages(preferences).preferred(of: languages) {
            kept.writeString(language)
        }
        // No language has a line end, and no value of a field.
        for pair in pairs { kept.writeString("\n\(pair)") }
        (bytes, hadCookies) = (kept, selected.hadCookies)
    }

    /// What is kept of a head.
    private struct Selected {
        var kept: ByteBuffer?
        var hadCookies = false
        private var keptUpTo = 0

        mutating func leaveOut(_ line: Range<Int>, of bytes: UnsafeRawBufferPointer) {
            if kept == nil { kept = ByteBufferAllocator().buffer(capacity: bytes.count) }
            kept?.writeBytes(bytes[keptUpTo..<line.lowerBound])
            keptUpTo = line.upperBound + 2
        }

        mutating func finish(_ bytes: UnsafeRawBufferPointer) { kept?.writeBytes(bytes[keptUpTo...]) }
    }

    private static let cookie = Array("cookie".utf8)

    private static func isCookie(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Bool {
        guard bytes[line.lowerBound] | 0x20 == UInt8(ascii: "c"), line.count > cookie.count,
            bytes[line.lowerBound + cookie.count] == UInt8(ascii: ":")
        else { return false }
        return equals(bytes[line].prefix(cookie.count), cookie)
    }

    private static let acceptLanguage = Array("accept-language".utf8)

    /// Returns the length of the name if the field is one of those that are left out.
    private static func nameLength(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Int? {
        let first = bytes[line.lowerBound]
        guard first >= 0x41, letters & 1 << UInt32(first & 0x1F) != 0 else { return nil }
        for name in names where line.count > name.count && bytes[line.lowerBound + name.count] == UInt8(ascii: ":") {
            if equals(bytes[line.lowerBound..<line.lowerBound + name.count], name) { return name.count }
        }
        return nil
    }

    /// Whether bytes are a name, in any case.
    static func equals(_ bytes: some Sequence<UInt8>, _ name: [UInt8]) -> Bool {
        bytes.elementsEqual(name) { byte, expected in
            byte == expected || (byte >= 0x41 && byte <= 0x5A && byte | 0x20 == expected)
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || byte == 0x09 }
}
