import Foundation
import TestKit

@testable import Disk
@testable import Upstream

/// A Disk as a value, to which writes are applied one after the other: the model that queues are compared with.
struct SimulatedTree: Equatable {
    struct Thing: Equatable {
        var isFolder: Bool
        var md5: String?
        var isPublished = false
        /// Its identity; nil for an item that is made here and has none yet.
        var id: String?

        static func == (one: Thing, other: Thing) -> Bool {
            one.isFolder == other.isFolder && one.md5 == other.md5 && one.isPublished == other.isPublished
        }
    }

    /// A write that cannot be carried out.
    struct Refused: Error {
        let write: QueuedWrite
    }

    var things: [DiskPath: Thing] = [:]

    /// Two folders with files and a folder in one of them.
    static let beginning: SimulatedTree = {
        var tree = SimulatedTree()
        for (index, path) in ["/a", "/b", "/a/c"].enumerated() {
            tree.things[.at(path)] = Thing(isFolder: true, id: "d\(index)")
        }
        for (index, path) in ["/x", "/a/x", "/a/c/x", "/b/y"].enumerated() {
            tree.things[.at(path)] = Thing(isFolder: false, md5: "base\(index)", id: "f\(index)")
        }
        return tree
    }()

    /// All paths that random writes are about.
    static let paths: [DiskPath] = {
        var paths: [DiskPath] = []
        for one in ["a", "b", "x", "y"] {
            paths.append(.at("/\(one)"))
            for two in ["c", "x", "y"] {
                paths.append(.at("/\(one)/\(two)"))
                paths.append(.at("/\(one)/\(two)/x"))
            }
        }
        return paths
    }()

    func item(_ path: DiskPath) -> DiskItem? {
        guard let thing = things[path] else { return nil }
        var item = DiskItem(path: path, kind: thing.isFolder ? .dir : .file)
        item.md5 = thing.md5
        item.size = thing.isFolder ? nil : 1
        item.resourceID = thing.id
        item.isPublished = thing.isPublished
        if thing.isPublished { item.publicURL = "https://yadi.sk/d/x" }
        return item
    }

    func children(_ folder: DiskPath) -> Set<DiskPath> { Set(things.keys.filter { $0.parent == folder }) }

    private func isFolder(_ path: DiskPath?) -> Bool {
        guard let path else { return false }
        return path.isRoot || things[path]?.isFolder == true
    }

    /// Carries out a write as the API does.
    mutating func apply(_ write: QueuedWrite, id: String? = nil) throws {
        let refused = Refused(write: write)
        switch write.kind {
        case .folder:
            guard things[write.path] == nil, isFolder(write.path.parent) else { throw refused }
            things[write.path] = Thing(isFolder: true, id: id)
        case .upload:
            guard isFolder(write.path.parent), things[write.path] == nil || write.overwrites else { throw refused }
            guard things[write.path]?.isFolder != true else { throw refused }
            things[write.path] = Thing(isFolder: false, md5: write.bytes?.md5, id: id)
        case .delete:
            guard things[write.path] != nil else { throw refused }
            things = things.filter { !write.path.covers($0.key) }
        case .move:
            guard let to = write.to, things[write.path] != nil, isFolder(to.parent), !write.path.covers(to),
                !to.covers(write.path)
            else {
                throw refused
            }
            guard things[to] == nil || write.overwrites else { throw refused }
            let kept = things.filter { !to.covers($0.key) }
            things = Dictionary(uniqueKeysWithValues: kept.map { ($0.moved(from: write.path, to: to) ?? $0, $1) })
        case .publish, .unpublish:
            guard things[write.path] != nil else { throw refused }
            things[write.path]?.isPublished = write.kind == .publish
        }
    }

    /// Returns a random write that can be carried out, in its queued form: with the seen items of its paths.
    func randomWrite(_ number: Int, _ random: inout SeededRandom) -> QueuedWrite? {
        let kinds: [QueuedWrite.Kind] = [.folder, .upload, .upload, .move, .move, .move, .delete, .publish, .unpublish]
        var write = QueuedWrite(
            kind: kinds[Int.random(in: kinds.indices, using: &random)],
            path: Self.paths[Int.random(in: Self.paths.indices, using: &random)]
        )
        if write.kind == .move {
            write.to = Self.paths.randomElement(using: &random)
            write.overwrites = Bool.random(using: &random)
        }
        if write.kind == .upload {
            write.bytes = .init(length: 1, md5: "up\(number)", sha256: "", at: Date(timeIntervalSince1970: 0))
            write.overwrites = Bool.random(using: &random)
        }
        if write.kind == .unpublish, things[write.path]?.isPublished != true { return nil }
        if !write.isCreation { write.subject = item(write.path).map(SeenItem.init) }
        if write.isCreation || write.kind == .move { write.place = item(write.target).map(SeenItem.init) }
        var tried = self
        return (try? tried.apply(write)) == nil ? nil : write
    }
}

extension DiskPath {
    /// Returns the path of names that are divided by slashes.
    static func at(_ text: String) -> DiskPath {
        text.split(separator: "/").reduce(.root) { $0.child(String($1)) }
    }
}

extension Dictionary where Key == DiskPath, Value == SimulatedTree.Thing {
    fileprivate init(uniqueKeysWithValues pairs: [(DiskPath, SimulatedTree.Thing)]) {
        self.init(pairs) { first, _ in first }
    }
}

extension OutboxAccount<QueuedWrite> {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    /// Leaves writes one after the other, numbered from zero.
    init(_ writes: [QueuedWrite]) {
        self.init()
        for (number, write) in writes.enumerated() { put(write, Int64(number)) }
    }

    /// Leaves a write, or changes it.
    mutating func put(_ write: QueuedWrite, _ number: Int64, isRefused: Bool = false) {
        let progress = OutboxProgress(state: isRefused ? .failed : .queued)
        var entry = OutboxEntry(id: "\(number)", account: "1130", work: write, progress: progress, queuedAt: Self.noon)
        entry.number = number
        apply(.put(entry))
    }

    mutating func remove(_ number: Int64) {
        if let entry = queue.entries[number: number] { apply(.remove(entry)) }
    }
}
