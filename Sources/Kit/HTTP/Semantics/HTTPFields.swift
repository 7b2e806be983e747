package import HTTPTypes

extension HTTPFields {
    /// Returns the value of a field, the lines of a repeated one joined, as `self[name]` does. That joins a single line
    /// as well, which costs five times as much: for fields that are read for each request.
    package func value(of name: HTTPField.Name) -> String? {
        let lines = self[values: name]
        return lines.count > 1 ? lines.joined(separator: name == .cookie ? "; " : ", ") : lines.first
    }

    /// Removes all lines of these fields.
    package mutating func removeAll(named names: Set<HTTPField.Name>) {
        removeAll { names.contains($0.name) }
    }

    /// Whether a request prefers to be answered before it is carried out: `Prefer: respond-async` (RFC 7240 §4.1).
    /// Names are compared in any case, parameters and other preferences are ignored. The preference has no value; an
    /// empty one is none (§2).
    package var prefersAsyncResponse: Bool {
        self[values: .prefer].contains { line in
            FieldList.members(of: line).contains { member in
                let preference = member.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                let value = preference.dropFirst().first.map { FieldList.trim($0) } ?? ""
                return FieldList.trim(preference.first ?? "").lowercased() == Self.respondAsync
                    && (value.isEmpty || value == #""""#)
            }
        }
    }

    /// The preference as a value of `Prefer` and of `Preference-Applied`.
    package static let respondAsync = "respond-async"
}

extension HTTPField.Name {
    /// `Prefer` (RFC 7240 §2).
    package static let prefer = HTTPField.Name(literal: "Prefer")
    /// `Preference-Applied` (RFC 7240 §3).
    package static let preferenceApplied = HTTPField.Name(literal: "Preference-Applied")
}

/// Field names of caching and negotiation that `HTTPTypes` does not list.
extension HTTPField.Name {
    /// `Pragma`, of which only the request's `no-cache` ever had a meaning. RFC 9111 §5.4.
    package static let pragma = Self(literal: "Pragma")
    /// `Keep-Alive`. RFC 9110 §7.6.1: hop-by-hop.
    static let keepAlive = Self(literal: "Keep-Alive")
    /// `Proxy-Connection`. RFC 9110 §7.6.1: hop-by-hop.
    static let proxyConnection = Self(literal: "Proxy-Connection")
    /// `Accept-Charset`. RFC 9110 §12.5.2.
    package static let acceptCharset = Self(literal: "Accept-Charset")
    /// `Cache-Status`. RFC 9211.
    package static let cacheStatus = Self(literal: "Cache-Status")
    /// `CDN-Cache-Control`, the targeted field for caches that serve an origin. RFC 9213 §3.
    package static let cdnCacheControl = Self(literal: "CDN-Cache-Control")

    /// Creates a name from a literal, for the constants of a program.
    ///
    /// - Precondition: `literal` is a token (RFC 9110 §5.1). It is known when the program is written, so a violation is
    ///   an error of the program, and the first use of the constant ends it.
    package init(literal: StaticString) {
        guard let name = Self(literal.description) else { preconditionFailure("\(literal) is not a field name") }
        self = name
    }
}

/// Fields that concern one connection only. RFC 9110 §7.6.1.
package enum HopByHop {
    /// The fields that are never forwarded, whether `Connection` names them or not.
    ///
    /// `Trailer` is one of them here: trailers are dropped (RFC 9110 §6.5.1), so none may be announced.
    static let fields: Set<HTTPField.Name> = [
        .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]

    /// Fields meant for all recipients. To nominate them is an error of the sender (RFC 9110 §7.6.1), and to obey it
    /// would let a message remove the rules by which it is stored and selected.
    private static let neverNominated: Set<HTTPField.Name> = [
        .cacheControl, .vary, .date, .expires, .age, .eTag, .contentLength, .contentType, .contentEncoding,
        .contentRange, .authorization, .transferEncoding, .expect, HTTPField.Name(literal: "Host"),
    ]

    /// Returns the fields that lines of `Connection` name.
    package static func nominated(inLines lines: [String]) -> Set<HTTPField.Name> {
        Set(lines.flatMap { FieldList.members(of: $0) }.compactMap { HTTPField.Name(String($0)) })
            .subtracting(neverNominated)
    }

    /// Removes the fields that must not be forwarded from a request or a response.
    package static func remove(from message: inout HTTPFields) {
        message.removeAll(named: fields.union(nominated(inLines: message[values: .connection])))
    }
}

extension HTTPFields {
    /// The number of bytes that `Content-Length` declares: `1*DIGIT`. RFC 9110 §8.6.
    ///
    /// Nil if the field is absent, is not a number, or has several different values. Equal values in a list count once.
    package var declaredContentLength: Int? {
        let members = self[values: .contentLength].flatMap { FieldList.members(of: $0) }
        guard let first = members.first, first.isDigits, members.allSatisfy({ $0 == first }) else { return nil }
        return Int(first)
    }
}

/// Writes the `Content-Disposition` field of a file. RFC 6266.
package enum ContentDisposition {
    /// Returns the value of the field, with the name in ASCII for old clients and unchanged, in the form of RFC 8187,
    /// for all others.
    /// - Parameters:
    ///   - type: `inline` or `attachment`.
    ///   - fileName: name of the file; without one, the value is the type alone.
    package static func value(_ type: String, fileName: String?) -> String {
        guard let fileName, !fileName.isEmpty else { return type }
        let encoded = PercentEncoding.encode(fileName, allowed: .attributeCharacters)
        return "\(type); filename=\"\(plain(fileName))\"; filename*=UTF-8''\(encoded)"
    }

    /// Printable ASCII without the characters that old clients misread: quotes, backslashes, percent signs and path
    /// separators become `_`.
    private static func plain(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    (0x20...0x7E).contains($0.value) && !"\"\\%/".unicodeScalars.contains($0) ? $0 : "_"
                }
            )
        )
    }
}

/// Reads credentials of the scheme `Bearer`. RFC 6750 §2.1, RFC 9110 §11.4.
package enum BearerToken {
    /// Returns the token of an `Authorization` value.
    /// - Returns: nil if the value has another scheme or no token. The name of the scheme is case-insensitive.
    package static func parse(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(FieldList.trim(parts[1]))
    }
}

/// Reads the cookies of a request. RFC 6265 §4.2.1.
package enum CookiePairs {
    /// Returns the pairs `name=value` of a `Cookie` line whose names begin with a prefix, in order, byte for byte.
    package static func named(_ prefix: String, in line: String) -> [Substring] {
        line.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let pair = FieldList.trim(Substring(part))
            return pair.utf8.starts(with: prefix.utf8) ? pair : nil
        }
    }

    /// Returns a `Cookie` line without the pairs whose names begin with a prefix, in any case; nil if none is left.
    package static func line(_ line: String, without prefix: String) -> String? {
        let kept = line.utf8.split(separator: UInt8(ascii: ";")).map { FieldList.trim(Substring($0)) }.filter {
            !$0.isEmpty && !begins($0, with: prefix)
        }
        return kept.isEmpty ? nil : kept.joined(separator: "; ")
    }

    /// Whether `Set-Cookie` gives a client a cookie whose name begins with a prefix, in any case. One without a name
    /// counts by its value, since browsers send it back without `=`.
    package static func sets(_ setCookie: String, _ prefix: String) -> Bool {
        begins(Substring(setCookie.drop { $0 == " " || $0 == "\t" || $0 == "=" }), with: prefix)
    }

    private static func begins(_ pair: Substring, with prefix: String) -> Bool {
        pair.prefix { $0 != "=" }.lowercased().hasPrefix(prefix)
    }
}

/// A value of `traceparent` (W3C Trace Context §3.2).
package struct TraceParent: Sendable, Equatable {
    /// Identity of the trace, 32 hexadecimal digits.
    package let traceID: String
    /// Two hexadecimal digits.
    package let flags: String

    /// Reads a value; nil if it is malformed, in which case it is to be ignored (§3.2.2.5).
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        // A later version may have more parts (§3.2.4), version 00 has four.
        guard parts.count == 4 || (parts.count > 4 && parts[0] != "00"), parts[0] != "ff",
            zip(parts, [2, 32, 16, 2]).allSatisfy({ $0.utf8.count == $1 && $0.utf8.allSatisfy(Self.isDigit) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = String(parts[1])
        flags = String(parts[3])
    }

    /// Hexadecimal, lower case.
    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

/// The media types that a client accepts, with their weights: `Accept`. RFC 9110 §12.5.1.
///
/// Parameters other than `q` are ignored; of several members with one range the first counts.
package struct AcceptedMediaTypes: Sendable {
    private let ranges: [WeightedValue]

    /// Reads the header fields of a request.
    package init(_ fields: HTTPFields) {
        ranges = WeightedValue.list(fields[values: .accept])
    }

    /// Returns the weight of a media type, given by the most specific range that covers it.
    /// - Parameter type: such as `text/plain`, in lower case and without parameters.
    /// - Returns: 1 without the field; 0 if no range covers the type.
    package func weight(of type: String) -> Double {
        guard !ranges.isEmpty else { return 1 }
        let family = type.prefix { $0 != "/" }
        return explicitWeight(of: type) ?? explicitWeight(of: "\(family)/*") ?? explicitWeight(of: "*/*") ?? 0
    }

    /// Returns the weight of a media type or range that the client names literally; nil if it does not.
    package func explicitWeight(of range: String) -> Double? {
        ranges.first { $0.value == range }?.weight
    }
}

/// The languages that a client prefers: `Accept-Language`. RFC 9110 §12.5.4.
package struct AcceptedLanguages: Sendable {
    private let ranges: [WeightedValue]

    package init(_ lines: [String]) {
        ranges = WeightedValue.list(lines)
    }

    /// Returns the language that the client prefers, by the scheme "lookup" (RFC 4647 §3.4): a range names a language,
    /// whatever region or script follows it.
    ///
    /// - Parameter languages: Primary language subtags in lower case, such as `en`.
    /// - Returns: The first of the languages that have the greatest weight; nil if the client names none of them, or
    ///   leaves the choice to the server. A client that only says which ones it does not accept gets another one.
    package func preferred(of languages: [String]) -> String? {
        var best: (language: String, weight: Double)?
        for range in ranges where range.weight > best?.weight ?? 0 {
            let primary = range.value.prefix { $0 != "-" }
            // `*` is any language that no other range names: that is the server's choice.
            if primary == "*" {
                best = ("*", range.weight)
            } else if let language = languages.first(where: { $0 == primary }) {
                best = (language, range.weight)
            }
        }
        if let best, best.language != "*" { return best.language }
        let accepted = languages.filter { !refuses($0) }
        return accepted.count < languages.count ? accepted.first : nil
    }

    /// Whether a language is named with the weight 0, which is "not acceptable".
    private func refuses(_ language: String) -> Bool {
        ranges.contains { $0.weight == 0 && $0.value.prefix { $0 != "-" } == language }
    }
}

/// The content codings that a client accepts: `Accept-Encoding`. RFC 9110 §12.5.3.
package enum AcceptedEncodings {
    /// Returns whether a client accepts gzip: listed, or covered by `*`, with a weight above zero. If the client gives
    /// the identity coding a weight, that of gzip must not be below it.
    /// - Parameter lines: all lines of the field. Without the field only the identity coding is used, although any
    ///   coding would be permitted.
    package static func allowGzip(_ lines: [String]) -> Bool {
        let codings = WeightedValue.list(lines)
        func weight(_ coding: String) -> Double? { codings.first { $0.value == coding }?.weight }
        let gzip = weight("gzip") ?? weight("x-gzip") ?? weight("*") ?? 0
        return gzip > 0 && gzip >= weight("identity") ?? weight("*") ?? 0
    }
}

/// A member of a field that states preferences, `value;q=weight`. RFC 9110 §12.4.2.
struct WeightedValue: Sendable, Equatable {
    /// The text before the first semicolon, in lower case.
    let value: String
    /// From 0, not acceptable, to 1, the default.
    let weight: Double

    /// Returns the members of the field lines in their order. Parameters other than `q` are ignored.
    static func list(_ lines: [String]) -> [WeightedValue] {
        lines.flatMap { FieldList.members(of: $0) }.compactMap(Self.init)
    }

    private init?(_ member: Substring) {
        let parts = FieldList.members(of: member, separator: ";")
        guard let value = parts.first, member.utf8.first != UInt8(ascii: ";") else { return nil }
        self.value = value.lowercased()
        weight = parts.dropFirst().lazy.compactMap(Self.weight).first ?? 1
    }

    /// Reads a parameter.
    /// - Returns: nil if it is not `q`. A weight that is not a decimal number is 0: an unreadable weight asks for
    ///   nothing. One above 1 counts as 1.
    private static func weight(of parameter: Substring) -> Double? {
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "q" else { return nil }
        guard parts[1].utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else { return 0 }
        return min(Double(parts[1]) ?? 0, 1)
    }
}
