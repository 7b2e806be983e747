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
