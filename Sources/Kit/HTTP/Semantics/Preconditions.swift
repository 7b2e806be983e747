package import Foundation
package import HTTPTypes

/// Evaluates the preconditions of a GET or HEAD against the validators of a representation. RFC 9110 §13.
package enum Preconditions {
    /// Returns whether a request has a precondition that a 304 may satisfy: most requests need no validators.
    package static func asksForNotModified(_ fields: HTTPFields) -> Bool {
        fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
    }

    /// Returns whether the client holds the representation already, so that the response is a 304.
    ///
    /// Beside `If-None-Match`, `If-Modified-Since` is ignored (§13.1.3).
    /// - Parameters:
    ///   - fields: header fields of the request.
    ///   - tag: entity tag of the representation; without one only `*` matches.
    ///   - lastModified: the date with which `If-Modified-Since` is compared; nil: the field is ignored.
    ///   - now: settles the century of two-digit years.
    package static func isNotModified(
        _ fields: HTTPFields,
        tag: EntityTag?,
        lastModified: Date?,
        now: Date
    ) -> Bool {
        if let condition = EntityTagCondition(lines: fields[values: .ifNoneMatch]) {
            return tag.map(condition.matchesWeakly) ?? (condition == .any)
        }
        guard let lastModified,
            let since = fields.value(of: .ifModifiedSince).flatMap({ HTTPDate.parse($0, now: now) })
        else { return false }
        return since >= lastModified
    }

    /// Returns whether `If-Range` permits a part to be sent; without the field, it does. §13.1.5.
    /// - Parameters:
    ///   - fields: header fields of the request.
    ///   - tag: entity tag of the representation.
    ///   - lastModified: modification date of the representation in whole seconds.
    ///   - date: when the response with these validators was made.
    ///   - now: settles the century of two-digit years.
    package static func allowsRange(
        _ fields: HTTPFields,
        tag: EntityTag?,
        lastModified: Date?,
        date: Date,
        now: Date
    ) -> Bool {
        guard let condition = fields.value(of: .ifRange) else { return true }
        if let given = HTTPDate.parse(condition, now: now) {
            // RFC 9110 §8.8.2.2: a date is a strong validator only if it is at least a second before the response was
            // made.
            return lastModified.map { $0 == given && date.timeIntervalSince($0) >= 1 } ?? false
        }
        guard let given = EntityTag(condition), let tag else { return false }
        return given.matchesStrongly(tag)
    }
}

/// An entity tag. RFC 9110 §8.8.3.
///
/// Some servers send tags without quotation marks; such a tag is kept unchanged and equals only itself.
package struct EntityTag: Sendable, Equatable {
    /// Whether it only indicates equivalence. RFC 9110 §8.8.1.
    package var isWeak: Bool
    /// The tag with its quotation marks.
    package var opaque: String

    /// Reads one tag; nil if it is empty.
    package init?(_ text: some StringProtocol) {
        var tag = FieldList.trim(text)
        isWeak = tag.hasPrefix("W/")
        if isWeak { tag.removeFirst(2) }
        guard !tag.isEmpty else { return nil }
        opaque = String(tag)
    }

    /// The written form of the tag.
    package var text: String { (isWeak ? "W/" : "") + opaque }

    /// Compares weakly. RFC 9110 §8.8.3.2.
    ///
    /// Bytes that are not UTF-8 were replaced in reading, so tags with the replacement character cannot be
    /// distinguished and match nothing.
    package func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque && !opaque.unicodeScalars.contains("\u{FFFD}")
    }

    /// Compares strongly: neither tag may be weak. RFC 9110 §8.8.3.2.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && matchesWeakly(other)
    }
}

/// The value of `If-Match` or `If-None-Match`. RFC 9110 §13.1.1, §13.1.2.
package enum EntityTagCondition: Sendable, Equatable {
    /// `*`: any current representation.
    case any
    /// One of these.
    case tags([EntityTag])

    /// Reads the lines of a field; nil if it is absent or has no member.
    package init?(lines: [String]) {
        let members = lines.flatMap { FieldList.members(of: $0, escapes: false) }
        guard !members.isEmpty else { return nil }
        self = members.contains("*") ? .any : .tags(members.compactMap { EntityTag($0) })
    }

    /// Returns whether the condition names a tag by weak comparison, as `If-None-Match` does.
    package func matchesWeakly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesWeakly(tag) }
        }
    }
}

/// The part of a representation of known length that a `Range` field asks for. RFC 9110 §14.
package enum ByteRange: Sendable, Equatable {
    /// Send everything: no range, another unit, a malformed or repeated field, or several ranges, which a server may
    /// ignore (§14.2).
    case whole
    /// Send these bytes, positions counted from 0.
    case part(ClosedRange<Int>)
    /// The representation has none of these bytes: 416 (§15.5.17).
    case notSatisfiable

    /// - Parameters:
    ///   - fields: header fields of the request.
    ///   - length: bytes of the whole representation.
    package init(_ fields: HTTPFields, length: Int) {
        let lines = fields[values: .range]
        guard lines.count == 1, let equals = lines[0].firstIndex(of: "="), lines[0][..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let ranges = FieldList.members(of: lines[0][lines[0].index(after: equals)...])
        guard ranges.count == 1, let dash = ranges[0].firstIndex(of: "-") else {
            self = .whole
            return
        }
        self = Self.single(first: ranges[0][..<dash], last: ranges[0][ranges[0].index(after: dash)...], length: length)
    }

    /// Reads `first-last`, `first-` or `-suffix`. RFC 9110 §14.1.2.
    private static func single(first: Substring, last: Substring, length: Int) -> ByteRange {
        guard let lastNumber = last.isEmpty ? Int.max : position(last) else { return .whole }
        if first.isEmpty {
            guard !last.isEmpty else { return .whole }
            return lastNumber == 0 || length == 0 ? .notSatisfiable : .part(max(0, length - lastNumber)...(length - 1))
        }
        guard let firstNumber = position(first), firstNumber <= lastNumber else { return .whole }
        return firstNumber < length ? .part(firstNumber...min(lastNumber, length - 1)) : .notSatisfiable
    }

    /// Reads `1*DIGIT`; a number too large for any representation becomes the largest one.
    private static func position(_ text: Substring) -> Int? {
        text.isDigits ? Int(text) ?? Int.max : nil
    }
}

/// Which bytes of a representation a 206 has. RFC 9110 §14.4.
package struct ContentRange: Sendable, Equatable {
    /// Positions of the bytes, counted from 0.
    package let range: Range<Int>
    /// Bytes of the whole representation.
    package let completeLength: Int

    /// Reads the field; nil if it is absent, repeated or invalid, has another unit, or leaves the length of the
    /// representation open.
    package init?(_ fields: HTTPFields) {
        let lines = fields[values: .contentRange]
        guard lines.count == 1 else { return nil }
        let words = FieldList.trim(lines[0]).split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            let length = Self.number(halves[1]), first <= last, last < length
        else { return nil }
        range = first..<(last + 1)
        completeLength = length
    }

    private static func number(_ text: Substring) -> Int? { text.isDigits ? Int(text) : nil }
}
