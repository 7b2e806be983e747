import Foundation

/// The checkout that the tests were built from.
struct Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the text of a file.
    ///
    /// - Parameter path: relative to the root of the repository.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the paths of all files in a folder and in those below it, relative to the folder and sorted.
    ///
    /// - Parameters:
    ///   - path: the folder, relative to the root of the repository.
    ///   - suffixes: the endings of the names that are wanted; all files if there are none.
    static func files(in path: String, suffixes: [String] = []) -> [String] {
        let found = FileManager.default.enumerator(atPath: root.appending(path: path).path)?.compactMap {
            $0 as? String
        }
        return (found ?? []).filter { file in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: root.appending(path: "\(path)/\(file)").path,
                isDirectory: &isFolder
            )
            return exists && !isFolder.boolValue && (suffixes.isEmpty || suffixes.contains { file.hasSuffix($0) })
        }
        .sorted()
    }
}

/// The code of a Swift file: comments and the contents of string literals are left out, line breaks are kept.
struct SwiftSource {
    let code: String

    /// Reads a file's text.
    init(_ text: String) {
        var code: [UInt8] = []
        code.reserveCapacity(text.utf8.count)
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "/") where rest.starts(with: "//".utf8): rest = rest.drop { $0 != UInt8(ascii: "\n") }
            case UInt8(ascii: "/") where rest.starts(with: "/*".utf8): Self.skipComment(&rest)
            case UInt8(ascii: "#") where rest.starts(with: "#/".utf8): Self.skipRegex(&rest)
            case UInt8(ascii: "#"), UInt8(ascii: "\""):
                guard let hashes = Self.openedLiteral(rest) else { fallthrough }
                Self.skipLiteral(&rest, hashes: hashes)
                code += "\"\"".utf8
            default:
                code.append(byte)
                rest.removeFirst()
            }
        }
        self.code = String(decoding: code, as: UTF8.self)
    }

    /// Names of the modules that it imports.
    var imports: Set<String> {
        let statement =
            #/
            ^\s* (?:@\w+ (?:\([^)]*\))? \s+)* (?:(?:public|package|internal|fileprivate|private)\s+)?
            import\s+ (?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)? (?<module>\w+)
            /#
        let lines = code.split(separator: "\n").filter { $0.contains("import ") }
        return Set(lines.compactMap { (try? statement.prefixMatch(in: $0)).map { String($0.module) } })
    }

    /// Removes a comment, which may hold others.
    private static func skipComment(_ rest: inout ArraySlice<UInt8>) {
        var depth = 0
        repeat {
            if rest.starts(with: "/*".utf8) {
                depth += 1
                rest.removeFirst(2)
            } else if rest.starts(with: "*/".utf8) {
                depth -= 1
                rest.removeFirst(2)
            } else {
                rest.removeFirst()
            }
        } while depth > 0 && !rest.isEmpty
    }

    /// Removes a regular expression, in which quotation marks mean nothing.
    private static func skipRegex(_ rest: inout ArraySlice<UInt8>) {
        while !rest.isEmpty, !rest.starts(with: "/#".utf8) { rest.removeFirst() }
        rest = rest.dropFirst(2)
    }

    /// Returns the number of number signs ahead of the quotation mark of a literal, or `nil` if none begins here.
    private static func openedLiteral(_ rest: ArraySlice<UInt8>) -> Int? {
        let hashes = rest.prefix { $0 == UInt8(ascii: "#") }.count
        return rest.dropFirst(hashes).first == UInt8(ascii: "\"") ? hashes : nil
    }

    /// Removes a literal with all interpolations.
    private static func skipLiteral(_ rest: inout ArraySlice<UInt8>, hashes: Int) {
        rest.removeFirst(hashes)
        let quotes = rest.starts(with: "\"\"\"".utf8) ? "\"\"\"" : "\""
        rest.removeFirst(quotes.utf8.count)
        let end = Array((quotes + String(repeating: "#", count: hashes)).utf8)
        let escape = Array(("\\" + String(repeating: "#", count: hashes)).utf8)
        while !rest.isEmpty, !rest.starts(with: end) {
            if rest.starts(with: escape) {
                rest.removeFirst(escape.count)
                if rest.first == UInt8(ascii: "(") { skipInterpolation(&rest) } else { rest = rest.dropFirst() }
            } else {
                rest.removeFirst()
            }
        }
        rest = rest.dropFirst(end.count)
    }

    /// Removes an interpolation, in which there may be literals.
    private static func skipInterpolation(_ rest: inout ArraySlice<UInt8>) {
        var depth = 0
        repeat {
            if let hashes = openedLiteral(rest) {
                skipLiteral(&rest, hashes: hashes)
                continue
            }
            if rest.first == UInt8(ascii: "(") { depth += 1 }
            if rest.first == UInt8(ascii: ")") { depth -= 1 }
            rest = rest.dropFirst()
        } while depth > 0 && !rest.isEmpty
    }
}

/// Which target each header belongs to that targets in C and C++ include, by the first part of its path: `qpdf` of
/// `qpdf/QPDF.hh`.
struct HeaderOwners {
    private static let suffixes = [".c", ".cc", ".h"]
    private var owners: [String: String] = [:]

    /// Reads the public headers of targets in C and C++, and the headers that system libraries with a pkg-config file
    /// include. Those without such a file are of the C library, whose headers each target may include.
    init(_ targets: [PackageManifest.Target]) throws {
        for target in targets where target.pkgConfig != nil {
            for header in try Self.included(by: target) { owners[header] = target.name }
        }
        for target in targets where target.type != "system" {
            for header in Repository.files(in: "\(target.folder)/include") { owners[header] = target.name }
        }
    }

    /// For tests of it.
    init(owners: [String: String]) { self.owners = owners }

    /// Returns the targets whose headers a target in C or C++ includes, without itself.
    func modules(includedBy target: PackageManifest.Target) throws -> Set<String> {
        modules(of: try Self.included(by: target)).subtracting([target.name])
    }

    /// Returns the targets that headers belong to; the headers of the system belong to none.
    func modules(of headers: Set<String>) -> Set<String> { Set(headers.compactMap { owners[$0] }) }

    private static func included(by target: PackageManifest.Target) throws -> Set<String> {
        try Repository.files(in: target.folder, suffixes: suffixes).reduce(into: []) {
            $0.formUnion(headers(in: try Repository.text("\(target.folder)/\($1)")))
        }
    }

    /// Returns the first parts of the paths that a text in C or C++ includes.
    static func headers(in text: String) -> Set<String> {
        let lines = text.split(separator: "\n").filter { $0.contains("include") }
        return Set(
            lines.compactMap { line in
                (try? /\s*#\s*include\s*[<"]([^\/>"]+)/.prefixMatch(in: line)).map { String($0.1) }
            }
        )
    }
}
