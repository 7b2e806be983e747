import Foundation
import HTTP
import NIOCore

/// A request head without the fields that differ by client, way or request, and that no response depends on unless its
/// `Vary` names them. See docs/decisions/0014.
struct SignificantHead {
    /// The remaining bytes, followed by the selections of the fields that were left out.
    let bytes: ByteBuffer
    /// Whether cookies were left out, except the server's own.
    let hadCookies: Bool

    /// The most field lines of a head that is divided; the key of one with more is the whole head.
    private static let maximumLines = ConnectionLimits.standard.headerCount

    /// Names of the fields, lower case: of proxies about the request's way, of tracing, and of browsers about
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
    /// otherwise: if lines continue others (RFC 9112 §5.2), or values have other bytes than visible ASCII, spaces and
    /// tabs.
    ///
    /// - Parameters:
    ///   - languages: The languages that the server speaks, by their tags; the preferred one follows the head.
    ///   - cookies: The prefix of the names of the server's own cookies; those follow the head. Nil leaves `Cookie`
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

    /// The significant part of a head.
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

extension SignificantHead {
    private static let traceparent = Array("traceparent".utf8)
    private static let requestID = Array("x-request-id".utf8)

    /// Returns the trace of the request (W3C Trace Context §3.2); nil if it belongs to none.
    static func traceID(of head: ByteBuffer) -> String? {
        head.withUnsafeReadableBytes { bytes in
            var values: [String] = []
            for line in IteratorSequence(FieldLines(bytes)) {
                let parts = bytes[line].split(separator: UInt8(ascii: ":"), maxSplits: 1)
                guard parts.count == 2, equals(parts[0], traceparent) else { continue }
                values += FieldList.members(of: String(decoding: parts[1], as: UTF8.self)).map(String.init)
            }
            return values.count == 1 ? TraceParent(values[0])?.traceID : nil
        }
    }

    /// Returns the value of `X-Request-Id`; nil without the field, or with several lines of it.
    static func requestID(of head: ByteBuffer) -> String? {
        head.withUnsafeReadableBytes { bytes in
            var lines = FieldLines(bytes)
            var found: Range<Int>?
            while let line = lines.next() {
                let name = line.lowerBound..<line.lowerBound + requestID.count
                guard line.count > name.count, bytes[name.upperBound] == UInt8(ascii: ":"),
                    equals(bytes[name], requestID)
                else { continue }
                guard found == nil else { return nil }
                found = name.upperBound + 1..<line.upperBound
            }
            return found.map { String(FieldList.trim(String(decoding: bytes[$0], as: UTF8.self))) }
        }
    }
}

extension RequestIdentities {
    /// Returns the identity of a request that is responded to without the application.
    func identity(of head: ByteBuffer) -> RequestIdentity { identity(harmless: Self.wanted(in: head)) }

    /// Returns the client's own identity, or the next one.
    func identity(harmless wanted: String?) -> RequestIdentity { wanted.map { .wanted($0) } ?? .assigned(next()) }

    /// Returns the client's own identity if it is harmless.
    static func wanted(in head: ByteBuffer) -> String? {
        SignificantHead.requestID(of: head).flatMap { isHarmless($0) ? $0 : nil }
    }
}

/// A request head whose client expects no further response on its connection (RFC 9112 §9.6), without the lines that
/// declare this. The response to the rest is the same.
struct ClosingHead {
    /// The head without its lines `Connection: close`.
    let rest: ByteBuffer

    private static let name = Array("connection".utf8)
    private static let close = Array("close".utf8)

    /// Takes the lines out of a head. Nil if there is none, or if lines continue others (RFC 9112 §5.2).
    init?(_ head: ByteBuffer) {
        var kept: ByteBuffer?
        let isDivided = head.withUnsafeReadableBytes { bytes -> Bool in
            var lines = FieldLines(bytes)
            var keptUpTo = 0
            while let line = lines.next() {
                guard !Self.isBlank(bytes[line.lowerBound]) else { return false }
                guard Self.isClose(bytes, line) else { continue }
                if kept == nil { kept = ByteBufferAllocator().buffer(capacity: bytes.count) }
                kept?.writeBytes(bytes[keptUpTo..<line.lowerBound])
                keptUpTo = line.upperBound + 2
            }
            kept?.writeBytes(bytes[keptUpTo...])
            return true
        }
        guard isDivided, let kept else { return nil }
        rest = kept
    }

    private static func isClose(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Bool {
        let value = line.lowerBound + name.count + 1
        guard bytes[line.lowerBound] | 0x20 == name[0], value < line.upperBound, bytes[value - 1] == UInt8(ascii: ":"),
            bytes[line.upperBound] == 0x0D, SignificantHead.equals(bytes[line].prefix(name.count), name)
        else { return false }
        let text = bytes[value..<line.upperBound].drop(while: isBlank)
        let blanks = text.reversed().prefix(while: isBlank).count
        return SignificantHead.equals(text.dropLast(blanks), close)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// The head of the last hit of a connection, and where its response is cached. Clients repeat requests: a head of the
/// same bytes need not be taken apart and looked up again.
struct RepeatedHead {
    /// Longest head that is kept with a connection, in bytes.
    private static let longest = 2048

    private(set) var bytes = ByteBuffer()
    /// Where the response was found; nil without a head.
    private(set) var location: ResponseCache.Location?
    /// The client's own identity for the request; nil if it gets one.
    private(set) var wantedID: String?

    /// Returns the place if these bytes begin with the head. Its last line is empty, so it is a whole head there, too.
    func location(in other: ByteBuffer) -> ResponseCache.Location? {
        let count = bytes.readableBytes
        guard let location, other.readableBytes >= count else { return nil }
        let isSame = bytes.withUnsafeReadableBytes { known in
            other.withUnsafeReadableBytes { new in
                guard let known = known.baseAddress, let new = new.baseAddress else { return false }
                return memcmp(known, new, count) == 0
            }
        }
        return isSame ? location : nil
    }

    mutating func note(_ head: ByteBuffer, at location: ResponseCache.Location, wantedID: String?) {
        // A copy: the bytes are a slice of a whole read.
        bytes.clear()
        let isShort = head.readableBytes <= Self.longest
        if isShort { bytes.writeImmutableBuffer(head) }
        self.location = isShort ? location : nil
        self.wantedID = wantedID
    }
}

/// The field lines of a request head in order, without their line ends.
struct FieldLines: IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        skipLine()
    }

    /// Passes over a line; false if there is no whole one.
    @discardableResult
    private mutating func skipLine() -> Bool {
        guard index < bytes.count, let start = bytes.baseAddress,
            let end = memchr(start + index, 0x0A, bytes.count - index)
        else {
            index = bytes.count
            return false
        }
        index = start.distance(to: end) + 1
        return true
    }

    /// The next line; nil at the empty one.
    mutating func next() -> Range<Int>? {
        let start = index
        guard skipLine(), index - start > 2 else { return nil }
        return start..<index - 2
    }
}
