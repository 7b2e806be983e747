import Foundation

/// Which folders of a module use types of which.
///
/// The arrows are those of the names: a folder uses another one if a type that is declared at the top level of the
/// latter's files is named in the former's code. A file beside the folders counts as a folder.
struct FolderGraph {
    /// The folders that each folder uses.
    let arrows: [String: Set<String>]

    /// Reads a module.
    ///
    /// - Parameter path: its folder, relative to the root of the repository.
    init(_ path: String) throws {
        let files = Repository.files(in: path, suffixes: [".swift"])
        self.init(sources: try files.map { ($0, SwiftSource(try Repository.text("\(path)/\($0)"))) })
    }

    /// Reads files.
    ///
    /// - Parameter sources: the files, by their path in the module.
    init(sources: [(path: String, source: SwiftSource)]) {
        func folder(_ path: String) -> String { String(path.prefix { $0 != "/" }) }
        var homes: [String: Set<String>] = [:]
        for (path, source) in sources {
            for type in source.declaredTypes { homes[type, default: []].insert(folder(path)) }
        }
        arrows = sources.reduce(into: [:]) { arrows, file in
            let own = folder(file.path)
            // A name that two folders declare says nothing.
            let used = file.source.typeNames.compactMap { homes[$0] }.filter { $0.count == 1 && !$0.contains(own) }
            arrows[own, default: []].formUnion(used.joined())
        }
    }

    /// The largest sets of folders each of which leads to each other one, sorted; files beside folders are left out.
    var cycles: [[String]] {
        let reached = arrows.keys.reduce(into: [:]) { $0[$1] = self.reached(from: $1) }
        let sets = reached.map { folder, others in
            others.filter { reached[$0]?.contains(folder) == true && !$0.hasSuffix(".swift") }.sorted()
        }
        return Set(sets.filter { $0.count > 1 }).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Returns the folders that are used by a folder and by those; it is one of them if it is part of a cycle.
    private func reached(from folder: String) -> Set<String> {
        var found: Set<String> = []
        var next = Array(arrows[folder] ?? [])
        while let folder = next.popLast() {
            if found.insert(folder).inserted { next += arrows[folder] ?? [] }
        }
        return found
    }
}

extension SwiftSource {
    /// Names of the types that are declared outside of others and seen by other files.
    var declaredTypes: Set<String> {
        let kinds: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "typealias"]
        let modifiers: Set<Substring> = ["public", "package", "internal", "final", "indirect"]
        return Set(
            code.split(separator: "\n").compactMap { line in
                guard line.first != " " else { return nil }
                let words = line.split { $0 == " " || $0 == ":" || $0 == "<" || $0 == "{" }
                let rest = words.drop { $0.hasPrefix("@") || modifiers.contains($0) }
                guard rest.count > 1, let kind = rest.first, kinds.contains(kind) else { return nil }
                return String(rest[rest.startIndex + 1])
            }
        )
    }

    /// Names that begin with a capital letter and are no members of others.
    var typeNames: Set<String> {
        let words = code.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): false
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."): false
            default: true
            }
        }
        return words.reduce(into: []) { names, word in
            guard let first = word.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return }
            names.insert(String(Substring(word.prefix { $0 != UInt8(ascii: ".") })))
        }
    }
}
