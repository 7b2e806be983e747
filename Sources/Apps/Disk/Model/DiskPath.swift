import Foundation

/// A path on the Disk in its one spelling: scheme, slash, names with slashes between, none at the end but the root's.
/// Letters stay as they are, composed or not: the upstream tells them apart.
struct DiskPath: Sendable, Hashable {
    /// Where a path begins.
    enum Scheme: String, Sendable {
        case disk, trash
    }

    /// The path as the upstream writes it, such as `disk:/docs/report.pdf`.
    let text: String

    /// Most characters of one name (Yandex Disk REST API, "Data types").
    static let longestName = 255
    /// Most characters of a path (the same).
    static let longest = 32_760
    static let root = DiskPath(normalized: "disk:/")
    static let trash = DiskPath(normalized: "trash:/")

    private init(normalized text: String) {
        self.text = text
    }

    /// Reads a path as a client or the upstream writes it: with the scheme, or from the root with a slash. Nil for what
    /// is no path.
    init?(_ text: String, scheme: Scheme = .disk) {
        let prefix = "\(scheme.rawValue):/"
        let scalars = text.unicodeScalars
        guard scalars.count <= Self.longest else { return nil }
        var rest: Substring
        if text.utf8.starts(with: prefix.utf8) {
            rest = Substring(text.unicodeScalars.dropFirst(prefix.unicodeScalars.count))
        } else if scheme == .disk, scalars.first == "/" {
            rest = Substring(scalars.dropFirst())
        } else {
            return nil
        }
        guard rest.unicodeScalars.first != "/" else { return nil }
        if rest.unicodeScalars.last == "/" { rest = Substring(rest.unicodeScalars.dropLast()) }
        if rest.isEmpty {
            self.init(normalized: prefix)
            return
        }
        let names = rest.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard names.allSatisfy(Self.isName) else { return nil }
        self.init(normalized: prefix + rest)
    }

    /// Whether a text can be the name of a file or folder. Not NUL, where SQLite ends a text.
    static func isName(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        return !scalars.isEmpty && scalars.count <= longestName && name != "." && name != ".."
            && !scalars.contains { $0 == "/" || $0.value == 0 }
    }

    /// Where it begins.
    var scheme: Scheme { text.utf8.starts(with: "\(Scheme.trash.rawValue):".utf8) ? .trash : .disk }

    /// Whether it is the root of its scheme.
    var isRoot: Bool { text.unicodeScalars.last == "/" }

    /// The last name; empty for the root.
    var name: String {
        isRoot ? "" : String(Substring(text.unicodeScalars.suffix(from: text.unicodeScalars.index(after: lastSlash))))
    }

    /// The folder that it is in; nil for the root.
    var parent: DiskPath? {
        guard !isRoot else { return nil }
        let before = String(Substring(text.unicodeScalars.prefix(upTo: lastSlash)))
        return DiskPath(normalized: before.unicodeScalars.last == ":" ? before + "/" : before)
    }

    /// Something in this folder.
    func child(_ name: String) -> DiskPath { DiskPath(normalized: isRoot ? text + name : "\(text)/\(name)") }

    /// What the paths of everything below it begin with.
    var below: String { isRoot ? text : text + "/" }

    /// Whether another path is below this one.
    func contains(_ other: DiskPath) -> Bool {
        other.text.utf8.starts(with: below.utf8) && other.text.utf8.count > below.utf8.count
    }

    /// The value of a query parameter: everything but unreserved characters is percent-encoded, so that a plus stays a
    /// plus (RFC 3986 §2.3).
    var queryValue: String { Self.encoded(text) }

    private var lastSlash: String.UnicodeScalarView.Index {
        text.unicodeScalars.lastIndex(of: "/") ?? text.unicodeScalars.startIndex
    }

    /// Percent-encodes everything but unreserved characters.
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let isUnreserved =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "-._~".utf8.contains(byte)
            if isUnreserved {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    // Swift takes composed and decomposed letters for equal; the upstream does not.
    static func == (one: DiskPath, other: DiskPath) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
