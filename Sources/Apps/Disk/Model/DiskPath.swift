import Concurrency
import Foundation
import HTTP
import HTTPTypes
import JSONValues
import Screens

/// A path on the Disk in canonical spelling: scheme, slash, names separated by slashes, no trailing slash but the
/// root's.
/// Unicode is not normalized: the API distinguishes composed and decomposed letters.
struct DiskPath: Sendable, Hashable {
    /// The root that a path begins at.
    enum Scheme: String, Sendable {
        case disk, trash

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

    var scheme: Scheme { text.utf8.starts(with: "\(Scheme.trash.rawValue):".utf8) ? .trash : .disk }

    var isRoot: Bool { text.unicodeScalars.last == "/" }

    /// The last component; empty for the root.
    var name: String {
        isRoot ? "" : String(Substring(text.unicodeScalars.suffix(from: text.unicodeScalars.index(after: lastSlash))))
    }

    var parent: DiskPath? {
        guard !isRoot else { return nil }
        let before = String(Substring(text.unicodeScalars.prefix(upTo: lastSlash)))
        return DiskPath(normalized: before.unicodeScalars.last == ":" ? before + "/" : before)
    }

    func child(_ name: String) -> DiskPath { DiskPath(normalized: isRoot ? text + name : "\(text)/\(name)") }

    var below: String { isRoot ? text : text + "/" }

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

/// Parameters of the query; 400 `invalid-parameter` for one that is not acceptable.
extension ScreenRequest {
    /// Reads a path of the query.
    func diskPath(_ name: String = "path", scheme: DiskPath.Scheme = .disk, fallback: DiskPath? = nil) throws
        -> DiskPath
    {
        let text = try query.string(name)
        if text == nil, let fallback { return fallback }
        guard let text, let path = DiskPath(text, scheme: scheme) else {
            throw Problem.invalidParameter(name, accepted: DiskPath.accepted(scheme))
        }
        return path
    }

    /// Reads the path of a file or folder other than the root from the query.
    func diskPathBelowRoot() throws -> DiskPath {
        let path = try diskPath()
        guard !path.isRoot else {
            throw Problem.invalidParameter("path", accepted: "accepts a file or folder, not the whole Disk")
        }
        return path
    }

    /// Reads the time zone of texts from the query.
    func timeZone(fallback: TimeZone) throws -> TimeZone {
        try query.timeZone() ?? fallback
    }
}

extension Problem {
    /// 422: a field of the body is not acceptable.
    static func validation(_ pointer: String, _ code: String, _ detail: Text) -> Problem {
        validation([.field(pointer, code, detail)])
    }
}

/// Members of the body; 422 `validation-failed` for one that is missing or not acceptable.
extension JSONFields {
    /// Reads a path of the body.
    func diskPath(_ name: String, scheme: DiskPath.Scheme = .disk) throws -> DiskPath {
        let text = try string(name)
        guard let text, let path = DiskPath(text, scheme: scheme) else {
            throw Problem.validation(
                "/\(name)",
                text == nil ? "required" : "invalid",
                .pathForm(scheme)
            )
        }
        return path
    }

    /// Reads the path of a file or folder other than the root.
    func itemPath(_ name: String = "path") throws -> DiskPath {
        let path = try diskPath(name)
        guard !path.isRoot else {
            throw Problem.validation("/\(name)", "invalid", .notWholeDisk)
        }
        return path
    }

    /// Reads the path of something that is to be created.
    func newDiskPath(_ name: String) throws -> DiskPath {
        let path = try itemPath(name)
        try DiskPath.checkName(path.name, field: name)
        return path
    }

    /// Reads a flag of the body; null and a missing field are false.
    func diskFlag(_ name: String) throws -> Bool {
        switch values[name] {
        case nil, .null, .bool(false): return false
        case .bool(true): return true
        default: throw Problem.validation("/\(name)", "invalid", "\(name) must be true or false.")
        }
    }
}

extension DiskPath {
    static func accepted(_ scheme: Scheme) -> Text {
        "accepts a path such as \(scheme.rawValue):/docs/report.pdf, names of 1 to \(longestName) characters, "
            + "percent-encoded (+ as %2B)"
    }

    /// Checks a name that is to be given to a file or folder.
    static func checkName(_ name: String, isMissing: Bool = false, field: String = "name") throws {
        let rule = Text.nameRule(longestName)
        guard !name.unicodeScalars.allSatisfy(\.properties.isWhitespace) else {
            throw Problem.validation("/\(field)", isMissing ? "required" : "empty", rule)
        }
        guard name.unicodeScalars.count <= longestName else { throw Problem.validation("/\(field)", "too-long", rule) }
        guard isName(name), !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw Problem.validation("/\(field)", "invalid", rule)
        }
    }
}
