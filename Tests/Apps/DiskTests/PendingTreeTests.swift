import Foundation
import TestKit
import Testing

@testable import Disk
@testable import Upstream

@Suite("The Disk as it will be")
struct PendingTreeTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    /// Returns the item at a path according to a tree of pending writes over a Disk.
    private static func thing(_ path: DiskPath, _ pending: PendingTree, over base: SimulatedTree)
        -> SimulatedTree.Thing?
    {
        switch pending.item(at: path) {
        case .nothing: return nil
        case .made(let item, let node):
            #expect(item.path == path)
            return .init(isFolder: item.kind == .dir, md5: item.md5, isPublished: node.isPublished ?? false)
        case .upstream(let source, let node):
            var thing = base.things[source]
            if let isPublished = node?.isPublished { thing?.isPublished = isPublished }
            return thing
        }
    }

    /// Returns the paths that a list of a folder shows.
    private static func children(_ folder: DiskPath, _ view: PendingView, over base: SimulatedTree) -> [DiskPath] {
        let added = view.lists.added(to: folder).map(\.path)
        guard case .upstream(let source, _) = view.tree.item(at: folder) else { return added }
        let paths = base.children(source).flatMap { view.paths(inPlaceOf: $0, in: folder, ahead: []) } + added
        #expect(paths.count == base.children(source).count + view.folder(folder).difference + added.count)
        return paths
    }

    /// Returns the paths that a list of a folder shows while the API is ahead by a move.
    private static func children(
        _ folder: DiskPath,
        _ view: PendingView,
        over tree: SimulatedTree,
        ahead: DiskPath
    ) -> [DiskPath] {
        let added = (view.displaced(in: folder, ahead: [ahead]) + view.lists.added(to: folder)).map(\.path)
        guard case .upstream(let source, _) = view.tree.item(at: folder), !ahead.covers(source) else {
            return added
        }
        return added + tree.children(source).flatMap { view.paths(inPlaceOf: $0, in: folder, ahead: [ahead]) }
    }

    @Test(
        "OUT-04 any sequence of writes, folded or not, shows each path and folder as a model has them",
        arguments: 0..<200
    )
    func model(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let base = SimulatedTree.beginning
        var tree = base
        var writes: [QueuedWrite] = []
        for number in 0..<30 {
            guard let write = tree.randomWrite(number, &random) else { continue }
            try tree.apply(write)
            writes.append(write)
        }
        for sequence in [writes, QueuedWriteFoldingTests.folded(writes)] {
            let view = OutboxAccount(sequence).queue.view
            let pending = view.tree
            for path in SimulatedTree.paths {
                #expect(Self.thing(path, pending, over: base) == tree.things[path], "\(path.text) after \(sequence)")
            }
            for folder in [DiskPath.root] + tree.things.filter(\.value.isFolder).map(\.key) {
                let shown = Self.children(folder, view, over: base)
                #expect(Set(shown) == tree.children(folder), "\(folder.text) after \(sequence)")
                #expect(Set(shown).count == shown.count, "\(folder.text) has a row twice after \(sequence)")
            }
        }
    }

    @Test("OUT-04 lists are the same before and after the API has carried out the first write", arguments: 0..<300)
    func ahead(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let base = SimulatedTree.beginning
        var (tree, after, writes) = (base, base, [QueuedWrite]())
        while writes.count < 8 {
            guard let write = tree.randomWrite(writes.count, &random) else { continue }
            try tree.apply(write)
            if writes.isEmpty { after = tree }
            writes.append(write)
        }
        let (view, first) = (OutboxAccount(writes).queue.view, writes[0])
        let pending = view.tree
        // A path that is not in the tree: no move is ahead.
        let ahead = first.kind == .move ? first.path : DiskPath.at("/none")
        for folder in [DiskPath.root] + tree.things.filter(\.value.isFolder).map(\.key) {
            if case .upstream(let source, _) = pending.item(at: folder), ahead.covers(source) { continue }
            for disk in [base, after] {
                let shown = Self.children(folder, view, over: disk, ahead: ahead)
                #expect(Set(shown) == tree.children(folder), "\(folder.text) after \(writes)")
                #expect(Set(shown).count == shown.count, "\(folder.text) has a row twice after \(writes)")
            }
        }
    }

    @Test("Names are compared byte by byte: composed and decomposed letters are two files")
    func names() {
        var pending = PendingTree()
        pending.apply(QueuedWrite(kind: .folder, path: DiskPath.at("/\u{E9}")), 1, at: Self.noon)
        guard case .made = pending.item(at: DiskPath.at("/\u{E9}")) else {
            Issue.record("the folder is not there")
            return
        }
        guard case .upstream = pending.item(at: DiskPath.at("/e\u{301}")) else {
            Issue.record("another folder is hidden")
            return
        }
    }
}
