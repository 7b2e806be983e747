package import HTTP

/// An address on this server that a response names: path and query, percent-encoded.
///
/// Interpolated values are encoded, except another link, which is continued:
///
///     let document: Link = "/v1/pdf/documents/\(id)"
///     let file: Link = "\(document)/file"
///     let page = Link("/v1/disk/file/page").query("path", "disk:/a.pdf")
///
/// A link to an app with profiles is written with the profile of the response (docs/contract.md, "Sessions").
package struct Link: Sendable, Hashable {
    /// Path and query, without a profile.
    private var target: String

    /// Creates a link from a path and query that are percent-encoded.
    init(encoded target: String) { self.target = target }

    /// Returns the link with another query parameter.
    ///
    /// - Parameter allowed: The characters that are not percent-encoded.
    package func query(_ name: String, _ value: String, allowed: ASCIISet = .legibleQuery) -> Link {
        let value = PercentEncoding.encode(value, allowed: allowed)
        return Link(encoded: "\(target)\(separator)\(name)=\(value)")
    }

    /// The separator before the next query parameter.
    private var separator: String { target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?" }

    /// Path and query of the request, as in header fields such as `Location`.
    package var requestTarget: String { requestTarget(in: Profile.current) }

    /// Returns path and query as a response to a profile writes them.
    func requestTarget(in profile: Profile?) -> String {
        guard let profile, target.hasPrefix(profile.paths) else { return target }
        return "\(target)\(separator)profile=\(profile.name)"
    }
}

extension Link {
    /// A profile other than `local` (docs/contract.md, "Sessions"). All links of a response to it repeat it, since
    /// pictures, links and event streams of a browser cannot send `Larder-Profile`.
    struct Profile: Sendable, Equatable {
        /// That of the response that the current task makes; nil for `local`.
        @TaskLocal static var current: Profile?

        /// Its name, which needs no percent-encoding.
        let name: String
        /// The beginning of all paths of its app.
        let paths: String

        /// Returns nil for the profile that needs no name.
        init?(_ name: String, of app: String) {
            guard name != "local" else { return nil }
            self.name = name
            paths = "/v1/\(app)/"
        }
    }
}

extension Link: CustomStringConvertible {
    package var description: String { requestTarget }
}

extension Link: ExpressibleByStringInterpolation {
    /// Collects the pieces of a link.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var target = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            target.reserveCapacity(literalCapacity + 20 * interpolationCount)
        }

        /// Appends a piece that is percent-encoded already.
        package mutating func appendLiteral(_ literal: String) { target += literal }

        package mutating func appendInterpolation(_ link: Link) { target += link.target }

        package mutating func appendInterpolation(_ number: some BinaryInteger) { target += String(number) }

        /// Appends a text, percent-encoded.
        package mutating func appendInterpolation(_ text: some StringProtocol) {
            target += PercentEncoding.encode(String(text), allowed: .unreserved)
        }
    }

    /// Creates a link from a path and query that are percent-encoded.
    package init(stringLiteral target: String) { self.init(encoded: target) }

    package init(stringInterpolation: StringInterpolation) { self.init(encoded: stringInterpolation.target) }
}

extension Link: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(requestTarget)
    }
}
