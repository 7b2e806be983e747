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
