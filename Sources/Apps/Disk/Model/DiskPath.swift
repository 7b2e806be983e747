import Foundation
import HTTP
import HTTPTypes
import Screens

/// A path on the Disk in canonical spelling: scheme, slash, names separated by slashes, no trailing slash but the
/// root's.
/// Unicode is not normalized: the API distinguishes composed and decomposed letters.
struct DiskPath: Sendable, Hashable {
    /// The root that a path begins at.
    enum Scheme: String, Sendable {
        case disk, trash

        /// The beginning of its paths.
        var prefix: String { self == .disk ? "disk:/" : "trash:/" }
    }

    /// The path as the API writes it, such as `disk:/docs/report.pdf`.
    let text: String

    /// Maximum number of characters of a name (Yandex Disk REST API, "Data types").
    static let longestName = 255
    /// Maximum number of characters of a path (as above).
    static let longest = 32_760
    static let root = DiskPath(normalized: "disk:/")
    static let trash = DiskPath(normalized: "trash:/")

    private init(normalized text: String) {
        self.text = text
    }

    /// Parses a path as clients and the API write it: with the scheme, or with a leading slash. Nil if it is not a
    /// path.
    init?(_ text: String, scheme: Scheme = .disk) {
        let prefix = scheme.prefix
        guard Self.hasScalars(text[...].utf8, atMost: Self.longest) else { return nil }
        var rest: Substring.UTF8View
        if text.utf8.starts(with: prefix.utf8) {
            rest = text.utf8.dropFirst(prefix.utf8.count)
        } else if scheme == .disk, text.utf8.first == Self.slash {
            rest = text.utf8.dropFirst()
        } else {
            return nil
        }
        guard rest.first != Self.slash else { return nil }
        if rest.last == Self.slash { rest = rest.dropLast() }
        if rest.isEmpty {
            self.init(normalized: prefix)
            return
        }
        let names = rest.split(separator: Self.slash, omittingEmptySubsequences: false)
        guard names.allSatisfy(Self.isName) else { return nil }
        self.init(normalized: prefix + Substring(rest))
    }

    private static let slash = UInt8(ascii: "/")

    /// Whether a text can be the name of a file or folder. NUL is not allowed: SQLite ends a text there.
    static func isName(_ name: String) -> Bool { isName(name[...].utf8) }

    private static func isName(_ name: Substring.UTF8View) -> Bool {
        !name.isEmpty && hasScalars(name, atMost: longestName) && !name.elementsEqual(".".utf8)
            && !name.elementsEqual("..".utf8) && !name.contains { $0 == slash || $0 == 0 }
    }

    /// Whether a text has at most this many characters. They are counted only if it has more bytes.
    private static func hasScalars(_ text: Substring.UTF8View, atMost most: Int) -> Bool {
        text.count <= most || Substring(text).unicodeScalars.count <= most
    }

    /// Its scheme.
    var scheme: Scheme { text.utf8.starts(with: "\(Scheme.trash.rawValue):".utf8) ? .trash : .disk }

    /// Whether it is the root of its scheme.
    var isRoot: Bool { text.unicodeScalars.last == "/" }

    /// The last component; empty for the root.
    var name: String {
        isRoot ? "" : String(Substring(text.unicodeScalars.suffix(from: text.unicodeScalars.index(after: lastSlash))))
    }

    /// The folder that contains it; nil for the root.
    var parent: DiskPath? {
        guard !isRoot else { return nil }
        let before = String(Substring(text.unicodeScalars.prefix(upTo: lastSlash)))
        return DiskPath(normalized: before.unicodeScalars.last == ":" ? before + "/" : before)
    }

    /// Returns the path of an item in this folder.
    func child(_ name: String) -> DiskPath { DiskPath(normalized: isRoot ? text + name : "\(text)/\(name)") }

    /// Prefix of the paths below it.
    var below: String { isRoot ? text : text + "/" }

    /// Whether another path is below this one.
    func contains(_ other: DiskPath) -> Bool {
        other.text.utf8.starts(with: below.utf8) && other.text.utf8.count > below.utf8.count
    }

    /// The path as the value of a query parameter: all but unreserved characters are percent-encoded (RFC 3986 §2.3),
    /// so that a plus stays a plus.
    var queryValue: String { PercentEncoding.encode(text, allowed: .unreserved) }

    private var lastSlash: String.UnicodeScalarView.Index {
        text.unicodeScalars.lastIndex(of: "/") ?? text.unicodeScalars.startIndex
    }

    // Composed and decomposed letters are equal in Swift, but not for the API.
    static func == (one: DiskPath, other: DiskPath) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}

extension Hasher {
    /// Adds the bytes of a text, whose letters are not normalized.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text has it: the beginning of one is not the whole of another.
        combine(0xFF as UInt8)
    }
}
