import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens

extension ScreenRequest {
    /// Reads a path of the query.
    ///
    /// - Throws: 400 `invalid-parameter` if it is not a path, or is missing and `fallback` is nil.
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
    ///
    /// - Throws: 400 `invalid-parameter`.
    func diskPathBelowRoot() throws -> DiskPath {
        let path = try diskPath()
        guard !path.isRoot else {
            throw Problem.invalidParameter("path", accepted: "accepts a file or folder, not the whole Disk")
        }
        return path
    }

    /// Reads the time zone of texts from the query.
    ///
    /// - Throws: 400 `invalid-parameter` for a name that is not in the time zone database.
    func timeZone(fallback: TimeZone) throws -> TimeZone {
        try query.timeZone() ?? fallback
    }
}

extension JSONFields {
    /// Reads a path of the body.
    ///
    /// - Throws: 422 `validation-failed` if it is missing or not a path.
    func diskPath(_ name: String, scheme: DiskPath.Scheme = .disk) throws -> DiskPath {
        let text = try string(name)
        guard let text, let path = DiskPath(text, scheme: scheme) else {
            throw Problem.validation([
                .field(
                    "/\(name)",
                    text == nil ? "required" : "invalid",
                    "\(name) must be a path such as \(scheme.rawValue):/docs/report.pdf."
                )
            ])
        }
        return path
    }

    /// Reads the path of something that is to be created.
    ///
    /// - Throws: 422 `validation-failed` if it is missing, the root, or its name cannot be created.
    func newDiskPath(_ name: String) throws -> DiskPath {
        let path = try diskPath(name)
        guard !path.isRoot else {
            throw Problem.validation([
                .field("/\(name)", "invalid", "\(name) must be a place in the Disk, not the whole of it.")
            ])
        }
        try DiskPath.checkName(path.name, field: name)
        return path
    }

    /// Reads a flag of the body; null and a missing field are false.
    ///
    /// - Throws: 422 `validation-failed` if it is something else than a Boolean.
    func diskFlag(_ name: String) throws -> Bool {
        switch values[name] {
        case nil, .null, .bool(false): return false
        case .bool(true): return true
        default: throw Problem.validation([.field("/\(name)", "invalid", "\(name) must be true or false.")])
        }
    }
}

extension DiskPath {
    /// Describes the accepted paths in a problem.
    static func accepted(_ scheme: Scheme) -> Text {
        "accepts a path such as \(scheme.rawValue):/docs/report.pdf, names of 1 to \(longestName) characters, "
            + "percent-encoded (+ as %2B)"
    }

    /// Checks a name that is to be given to a file or folder.
    ///
    /// - Throws: 422 `validation-failed`.
    static func checkName(_ name: String, isMissing: Bool = false, field: String = "name") throws {
        let rule = Text.nameRule(field, longestName)
        guard !name.unicodeScalars.allSatisfy(\.properties.isWhitespace) else {
            throw Problem.validation([.field("/\(field)", isMissing ? "required" : "empty", rule)])
        }
        guard name.unicodeScalars.count <= longestName else {
            throw Problem.validation([.field("/\(field)", "too-long", rule)])
        }
        guard isName(name), !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw Problem.validation([.field("/\(field)", "invalid", rule)])
        }
    }
}
