import Foundation
import Storage
import Upstream

/// The Disk of an account after its pending writes, with the rows that lists need: `rows + operations -> rows`.
///
/// A change of an operation is applied only at the paths of that operation, and copies share their unchanged parts. So
/// the cost of a change does not depend on the number of pending operations.
struct PendingView: OutboxView {
    /// A place that a pending write changes.
    final class Shown: Sendable {
        let path: DiskPath
        let node: PendingTree.Node
        /// The number of the write that has made it, or has changed it last.
        let write: Int64
        /// The item, without values that only the API's row has.
        let item: DiskItem?
        /// The form of the name that searches compare.
        let folded: String
        /// Whether it is shown before the API's rows of its folder: it has no place among them.
        let isAdded: Bool

        init(_ path: DiskPath, _ node: PendingTree.Node, _ write: Int64, _ subject: SeenItem?, isAdded: Bool) {
            (self.path, self.node, self.write, self.isAdded) = (path, node, write, isAdded)
            item = node.item?.at(path) ?? subject?.item(at: path)
            folded = path.name.partFolded
        }
    }

    /// How a folder differs from the API's list of it, apart from added rows.
    struct Folder: Sendable {
        /// The moved items that are shown in the place of their row of the API, by the path of that row: in this folder
        /// under another name, or as before.
        var renamed = PersistentMap<DiskPath, Shown>()
        /// By how much the number of rows differs.
        var difference = 0
    }

    private(set) var tree = PendingTree()
    /// Bytes by which the used space will differ.
    private(set) var addedBytes = 0
    /// All places that are shown otherwise, sorted and searched. Copies share it: it is that of the last change.
    let lists = PendingLists()
    private var folders = PersistentMap<DiskPath, Folder>()
    /// The paths at which items of the API are shown, by their paths at the API.
    private var relocations = PersistentMap<DiskPath, DiskPath>()
    /// Number of operations and places that were examined so far.
    private(set) var steps = 0

    mutating func follow(_ change: OutboxStep<QueuedWrite>) {
        addedBytes += (change.new?.work.addedBytes ?? 0) - (change.old?.work.addedBytes ?? 0)
        let region = AffectedPaths(change)
        var before = ChangedPaths(change)
        for root in region.roots { before.look(at: root, in: tree) }
        if !change.isLast {
            for root in region.roots { tree.forget(root) }
        }
        for entry in region.entries { tree.apply(entry.work, entry.number, at: entry.queuedAt) }
        var after = ChangedPaths(change)
        for root in region.roots { after.look(at: root, in: tree) }
        for state in before.states { note(state, isThere: false) }
        for state in after.states { note(state, isThere: true) }
        lists.update(removing: before.states.compactMap { $0.shown }, adding: after.states.compactMap { $0.shown })
        steps += region.entries.count + before.states.count + after.states.count
    }

    private mutating func note(_ state: ChangedPaths.State, isThere: Bool) {
        if let source = state.relocated { relocations[source] = isThere ? state.path : nil }
        guard state.isGap || state.isRenamed, let parent = state.path.parent else { return }
        folders.update(parent, default: Folder()) { folder in
            let sign = isThere ? 1 : -1
            if state.isGap { folder.difference -= sign }
            if state.isRenamed, let source = state.source, let shown = state.shown {
                folder.difference += sign
                folder.renamed[source] = isThere ? shown : nil
            }
        }
        if let folder = folders[parent], folder.difference == 0, folder.renamed.isEmpty { folders[parent] = nil }
    }

    /// Returns how a folder differs from the API's list of it, apart from added rows.
    func folder(_ path: DiskPath) -> Folder { folders[path] ?? Folder() }

    /// Returns the path under which something of the API is shown; nil if it is not.
    func visible(_ source: DiskPath) -> DiskPath? {
        var path = source
        for above in source.lineage {
            guard let place = relocations[above] else { continue }
            path = source.moved(from: above, to: place) ?? source
            break
        }
        guard case .upstream(source, _) = tree.item(at: path) else { return nil }
        return path
    }

    /// Returns the paths that a folder shows in the place of a row of the API.
    ///
    /// - Parameters:
    ///   - source: The path of that row.
    ///   - ahead: The paths of moves that the API may have carried out. The moved items are shown before the API's
    ///     rows.
    func paths(inPlaceOf source: DiskPath, in folder: DiskPath, ahead: [DiskPath]) -> [DiskPath] {
        var paths: [DiskPath] = []
        let own = folder.child(source.name)
        if let node = tree.node(own), node.keepsPlace, !node.isHidden, !node.isInPlace(in: source.parent) {
            paths.append(own)
        }
        guard let path = visible(source), path.parent == folder else { return paths }
        let isMoved = path.name != source.name || tree.node(path)?.replaces == true
        if isMoved, ahead.contains(where: { $0.covers(source) }) { return paths }
        return paths + [path]
    }

    /// Returns the items renamed in a folder by moves that the API may have carried out.
    func displaced(in folder: DiskPath, ahead: [DiskPath]) -> [Shown] {
        guard !ahead.isEmpty, let renamed = folders[folder]?.renamed else { return [] }
        // All of them are in the same folder of the API.
        let source = renamed.first { _ in true }?.key.parent
        if let source, ahead.contains(where: { $0.covers(source) }) {
            return renamed.map(\.value).sorted { $0.write < $1.write }
        }
        return Set(ahead).compactMap { renamed[$0] }.sorted { $0.write < $1.write }
    }

    /// Returns how a row says that its write waits.
    func pending(_ write: Int64?, in queue: OutboxQueue<QueuedWrite>) -> PendingScreen? {
        write.flatMap { queue.entries[number: $0] }.map(PendingScreen.init)
    }
}

/// The paths of the Disk after the pending writes that are computed again after a change of one operation, and the
/// operations that act there. Other paths are unaffected.
struct AffectedPaths: Sendable {
    /// The paths that are made again, with all below them. None is below another one.
    let roots: [DiskPath]
    /// The operations that act there, in order.
    let entries: [OutboxEntry<QueuedWrite>]

    init(_ change: OutboxStep<QueuedWrite>) {
        let touched = (change.old?.work.places ?? []) + (change.new?.work.places ?? [])
        guard !change.isLast else {
            // It acts on the results of the others.
            roots = Self.outermost(Set(touched))
            entries = [change.new].compactMap { $0 }
            return
        }
        var (open, paths, found) = (touched, Set<DiskPath>(), [Int64: OutboxEntry<QueuedWrite>]())
        while !open.isEmpty {
            while let path = open.popLast() {
                guard !paths.contains(path), !path.above.contains(where: paths.contains) else { continue }
                paths.insert(path)
                for entry in change.inside(path) where found.updateValue(entry, forKey: entry.number) == nil {
                    open += entry.work.places
                }
            }
            let first = found.keys.min() ?? .max
            for entry in paths.flatMap(change.above) where found[entry.number] == nil {
                switch entry.work.kind {
                // Items below it do not depend on it.
                case .publish, .unpublish: continue
                // It is there before all that is made again.
                case .folder where entry.number < first: continue
                case .folder, .upload, .move, .delete: open += entry.work.places
                }
            }
        }
        roots = Self.outermost(paths)
        entries = found.values.sorted { $0.number < $1.number }
    }

    private static func outermost(_ paths: Set<DiskPath>) -> [DiskPath] {
        paths.filter { !$0.above.contains(where: paths.contains) }
    }
}

/// Collects the changed places of a region, for the lists.
struct ChangedPaths {
    struct State {
        let path: DiskPath
        /// Where the API has it.
        let source: DiskPath?
        /// That, if it is shown at another path.
        let relocated: DiskPath?
        /// Whether the API has something there that is not shown, and nothing in its place.
        let isGap: Bool
        /// Whether it is moved, and shown in the place of its row.
        let isRenamed: Bool
        let shown: PendingView.Shown?
    }

    private let change: OutboxStep<QueuedWrite>
    private(set) var states: [State] = []

    init(_ change: OutboxStep<QueuedWrite>) {
        self.change = change
    }

    /// Looks at a path, and at all below it.
    mutating func look(at path: DiskPath, in tree: PendingTree) {
        // A write below a path that an earlier write removes has no effect, once the write between them has none.
        guard let parent = path.parent, !tree.hides(parent), let folder = tree.node(parent),
            let node = tree.node(path)
        else { return }
        look(at: node, path, in: folder)
    }

    private mutating func look(at node: PendingTree.Node, _ path: DiskPath, in folder: PendingTree.Node) {
        let natural = folder.source?.child(path.name)
        let isInPlace = node.isInPlace(in: folder.source)
        let isFilled = node.keepsPlace && !node.isHidden && !isInPlace
        let isMoved = !node.isHidden && node.source != natural
        let shown = node.isHidden ? nil : shown(node, path, isAdded: !isInPlace && !node.keepsPlace)
        states.append(
            State(
                path: path,
                source: node.source,
                relocated: isMoved ? node.source : nil,
                isGap: natural != nil && node.replaces && !isFilled,
                isRenamed: shown != nil && isInPlace && (isMoved || node.replaces),
                shown: shown
            )
        )
        guard !node.isHidden else { return }
        for (name, child) in node.children { look(at: child, path.child(name.text), in: node) }
    }

    private func shown(_ node: PendingTree.Node, _ path: DiskPath, isAdded: Bool) -> PendingView.Shown? {
        node.write.map { PendingView.Shown(path, node, $0, change.entry($0)?.work.subject, isAdded: isAdded) }
    }
}
